"""The accountant: closed forms, other libraries' numbers, arrays, filters, and what is refused."""

import copy
import math
import pickle
import threading

import numpy as np
import pytest
from reticent import accounting as acc
from reticent.errors import BudgetExceeded

DELTAS = np.array([1e-5, 1e-6, 1e-7])


def gaussian_delta(epsilon, mu):
    """The profile of a Gaussian mechanism (Balle and Wang 2018, Theorem 8)."""

    def phi(x):
        return 0.5 * math.erfc(-x / math.sqrt(2.0))

    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def test_gaussian_noise_has_its_closed_form():
    for adjacency, mu in [("add-remove", 0.25), ("replace-one", 0.5)]:
        step = acc.gaussian(4.0, adjacency=adjacency)
        assert step.mu == pytest.approx(mu, rel=1e-12)
        for epsilon in [0.1, 1.0, 3.0]:
            found = acc.delta(step, epsilon)
            assert found == pytest.approx(gaussian_delta(epsilon, mu), rel=1e-9)
            assert found >= gaussian_delta(epsilon, mu) * (1 - 1e-12)
            assert acc.epsilon(step, found) == pytest.approx(epsilon, rel=1e-9)


def test_it_agrees_with_other_libraries():
    """dp_accounting 0.6 and Opacus 1.6 on the same events (docs/accounting.md)."""
    steps = acc.poisson_gaussian(1.0, rate=0.01, adjacency="add-remove") * 10_000
    lower, upper = acc.epsilon(steps, DELTAS, bounds=True)
    pld = np.array([6.187744975808358, 6.90741949258037, 7.56880416320187])
    prv = np.array([6.198043855918422, 6.917686743133251, 7.579047048613335])
    assert np.allclose(upper, pld, rtol=1e-5) and (lower <= pld).all()
    assert (upper <= prv).all() and (prv - upper < 0.011).all()
    assert acc.delta(steps, 8.0) == pytest.approx(2.028619766468001e-08, rel=1e-3)
    found = acc.calibrate(
        2.0, 1e-6, lambda z: acc.poisson_gaussian(z, 0.01, adjacency="add-remove") * 1_000
    )
    assert found.value == pytest.approx(1.0290229548123053, rel=1e-5) and found.epsilon <= 2.0


def test_events_compose_in_any_order():
    three, four = acc.gaussian(3.0), acc.gaussian(4.0)
    assert acc.compose(three, four).mu == pytest.approx((three + four).mu)
    assert (three * 2 + four).mu == pytest.approx(acc.compose(four, three, three).mu)
    assert len(three * 5) == 5 and 5 * three == three * 5 and len(three * 0) == 0
    assert acc.epsilon(acc.compose(), 1e-5) == 0.0
    assert (three * np.int64(3)) == three * 3
    assert three.adjacency == "replace-one" and acc.compose().adjacency is None


def test_arrays_keep_their_shape():
    step = acc.gaussian(5.0)
    grid = DELTAS.reshape(3, 1)
    assert acc.epsilon(step, grid).shape == (3, 1)
    assert isinstance(acc.epsilon(step, 1e-5), float)
    several = [acc.gaussian(z) for z in (2.0, 4.0)]
    table = acc.epsilon(several, DELTAS)
    assert table.shape == (2, 3) and (table[0] > table[1]).all()
    ends = acc.delta(several, [0.5, 1.0], bounds=True)
    assert (ends.lower <= ends.upper).all() and ends.upper.shape == (2, 2)
    assert acc.delta(several, 1.0).shape == (2,)


def test_profiles_and_trade_offs_fall():
    curve = acc.profile(acc.gaussian(2.0))
    assert curve.epsilon.shape == curve.delta.shape == (101,)
    assert (np.diff(curve.delta) <= 0).all()
    tests = acc.trade_off(acc.gaussian(2.0))
    assert tests.missed[0] == pytest.approx(1.0, abs=1e-6) and (np.diff(tests.missed) <= 1e-9).all()


def test_black_boxes_add_up():
    assert acc.epsilon(acc.pure_dp(0.5) * 4, 0.0) == pytest.approx(2.0)
    assert acc.epsilon(acc.zcdp(0.1), 1e-6) > acc.epsilon(acc.gdp(math.sqrt(0.2)), 1e-6)
    assert acc.epsilon(acc.approximate_dp(1.0, 1e-7), 1e-6) <= 1.0
    # Noise 4 on a sum that a replacement moves by twice what a record contributes.
    assert acc.epsilon(acc.laplace(4.0), 0.0) == pytest.approx(0.5)
    sample = acc.without_replacement_gaussian(2.0, 100, 10_000)
    assert acc.epsilon(sample, 1e-6) < acc.epsilon(acc.gaussian(2.0), 1e-6)


def test_what_fits_is_found():
    assert acc.calibrate_steps(1.1, 0.0, acc.pure_dp(0.25)).value == 4
    rate = acc.calibrate_rate(2.0, 1e-6, lambda q: acc.poisson_gaussian(2.0, rate=q) * 100)
    steps = acc.poisson_gaussian(2.0, rate=rate.value) * 100
    assert acc.epsilon(steps, 1e-6) <= 2.0 < acc.epsilon(steps * 2, 1e-6)


def test_what_a_plan_raises_is_raised():
    class Mine(Exception):
        pass

    def plan(noise):
        raise Mine("so")

    with pytest.raises(Mine, match="so"):
        acc.calibrate(1.0, 1e-6, plan)
    with pytest.raises(KeyboardInterrupt):
        acc.calibrate(1.0, 1e-6, lambda noise: (_ for _ in ()).throw(KeyboardInterrupt))


def test_a_filter_spends_all_or_nothing():
    budget, step = acc.Filter(1.0, 1e-6), acc.gaussian(20.0)
    count = 0
    while budget.admits(step):
        budget.spend(step)
        count += 1
    assert 0 < count < 100 and len(budget.spent) == count
    assert acc.epsilon(budget.spent, 1e-6) <= 1.0
    with pytest.raises(BudgetExceeded, match="does not fit"):
        budget.spend(step)
    small = acc.gaussian(1e6)
    assert budget.admits(small)
    with pytest.raises(BudgetExceeded):
        budget.spend(small + step)
    assert len(budget.spent) == count
    assert 0.0 < budget.odometer(1e-6)


def test_ledgers_travel():
    books = acc.gaussian(3.0) * 7 + acc.pure_dp(0.1)
    for copied in [pickle.loads(pickle.dumps(books)), copy.deepcopy(books)]:
        assert copied == books and hash(copied) == hash(books)
    assert acc.Ledger.from_json(books.to_json()) == books
    assert "7 ×" in repr(books)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: acc.gaussian(0.0),
        lambda: acc.gaussian(float("nan")),
        lambda: acc.gaussian(1.0, adjacency="sideways"),
        lambda: acc.gaussian(1.0, unit="household"),
        lambda: acc.poisson_gaussian(1.0, rate=1.5),
        lambda: acc.event("gauss", noise_multiplier=1.0),
        lambda: acc.event("gaussian", noise=1.0),
        lambda: acc.epsilon(acc.gaussian(1.0), -1.0),
        lambda: acc.epsilon(acc.gaussian(1.0), 2.0),
        lambda: acc.epsilon(acc.gaussian(1.0) + acc.gaussian(1.0, unit="user"), 1e-5),
        lambda: acc.gaussian(1.0) * -1,
        lambda: acc.gaussian(1.0) * (2**63) * 4,
        lambda: acc.calibrate(-1.0, 1e-6, acc.gaussian),
        lambda: acc.Filter(1.0, 2.0),
        lambda: acc.Ledger.from_json("{}"),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises((ValueError, BudgetExceeded, OverflowError)):
        wrong()


def test_threads_spend_of_one_filter_what_one_would():
    def spend_all(count):
        budget, step = acc.Filter(4.0, 1e-6), acc.gaussian(20.0)

        def spend():
            try:
                while True:
                    budget.spend(step)
            except BudgetExceeded:
                pass

        threads = [threading.Thread(target=spend) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(budget.spent)

    assert spend_all(4) == spend_all(1) > 5
