//! Names beside the ends of curves, moved apart where they would cover each other.

/// The places of labels that want to be at `wanted`, at least `apart` from each other and between
/// `top` and `bottom`, as near to where they want to be as can be found by pushing.
pub(crate) fn spread(wanted: &[f64], apart: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut places: Vec<f64> = order.iter().map(|k| wanted[*k].clamp(top, bottom)).collect();
    for k in 1..places.len() {
        places[k] = places[k].max(places[k - 1] + apart);
    }
    // What was pushed out at the bottom goes up, and pushes others before it.
    let mut limit = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - apart;
    }
    let mut found = vec![0.0; wanted.len()];
    for (place, k) in places.into_iter().zip(order) {
        found[k] = place;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_apart_and_in_order() {
        assert_eq!(spread(&[50.0, 52.0, 10.0], 15.0, 0.0, 100.0), [50.0, 65.0, 10.0]);
        assert_eq!(spread(&[99.0, 98.0], 15.0, 0.0, 100.0), [100.0, 85.0]);
        assert_eq!(spread(&[], 15.0, 0.0, 100.0), Vec::<f64>::new());
    }
}
