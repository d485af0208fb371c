//! A uniform real in (0, 1) whose digits are drawn when a decision needs them, and not before
//! (Karney 2016, §2).

/// A source of independent uniform digits in base 2^BITS; BITS divides 64.
///
/// Reality is [`crate::entropy::Entropy`] with 64-bit digits, in which two numbers share a digit
/// once in 2⁶⁴: too rare for any test. The tests run the same code over one-bit digits, where every
/// other comparison is a tie.
pub trait Digits {
    /// Bits of a digit.
    const BITS: u32;
    /// The next digit, below 2^BITS.
    fn digit(&mut self) -> u64;
    /// Uniform on 0 … `bound` − 1; `bound` ≥ 1.
    fn below(&mut self, bound: u64) -> u64;
}

/// 0.d₁d₂d₃… with d₁ and perhaps some more digits drawn.
#[derive(Debug)]
pub(crate) struct Fraction {
    first: u64,
    more: Vec<u64>,
}

impl Fraction {
    #[inline]
    pub(crate) fn draw<D: Digits>(digits: &mut D) -> Self {
        Self { first: digits.digit(), more: Vec::new() }
    }

    /// Whether self < other: settled by the first digits that differ, drawn in pairs until they do.
    /// Equality has probability zero.
    #[inline]
    pub(crate) fn less<D: Digits>(&mut self, other: &mut Self, digits: &mut D) -> bool {
        if self.first != other.first {
            self.first < other.first
        } else {
            self.less_later(other, digits)
        }
    }

    #[cold]
    fn less_later<D: Digits>(&mut self, other: &mut Self, digits: &mut D) -> bool {
        let mut place = 1;
        loop {
            let (a, b) = (self.at(place, digits), other.at(place, digits));
            if a != b {
                return a < b;
            }
            place += 1;
        }
    }

    /// Whether self < ½: the leading bit.
    #[inline]
    pub(crate) fn below_half<D: Digits>(&self) -> bool {
        self.first >> (D::BITS - 1) == 0
    }

    /// The 64-bit word number `index` of the binary expansion.
    #[inline]
    pub(crate) fn word<D: Digits>(&mut self, index: usize, digits: &mut D) -> u64 {
        let per_word = (64 / D::BITS) as usize;
        if per_word == 1 {
            return self.at(index, digits);
        }
        (index * per_word..(index + 1) * per_word)
            .fold(0, |word, place| word << D::BITS | self.at(place, digits))
    }

    #[inline]
    fn at<D: Digits>(&mut self, place: usize, digits: &mut D) -> u64 {
        if place == 0 {
            return self.first;
        }
        while self.more.len() < place {
            self.more.push(digits.digit());
        }
        self.more[place - 1]
    }
}

/// The length n of the run `top` > U₁ > U₂ > … > Uₙ, Uₙ₊₁ the first that is not smaller: P(length ≥
/// n) = topⁿ/n!, so the length is even with probability e^−top (von Neumann 1951; Karney 2016, eq.
/// 2).
#[inline]
pub(crate) fn even_run_below<D: Digits>(top: &mut Fraction, digits: &mut D) -> bool {
    let mut last = Fraction::draw(digits);
    if !last.less(top, digits) {
        return true;
    }
    descend(last, digits)
}

/// The parity of the rest of the run, when its first member (already below the top) is `last`.
#[inline]
pub(crate) fn descend<D: Digits>(mut last: Fraction, digits: &mut D) -> bool {
    let mut even = false;
    loop {
        let mut next = Fraction::draw(digits);
        if !next.less(&mut last, digits) {
            return even;
        }
        even = !even;
        last = next;
    }
}
