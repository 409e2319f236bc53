//! # The weights that a certificate compares with
//! Each set has its sentence here, which is what every report prints, and a sampler, with which a test reads the
//! sentence: no sampled weights may contradict it.

use geowalk::row::Norm;

/// The comparators of a certificate that names none: a set that the final weights are in, of a form that fits the walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reach {
    /// |u_i| ≤ |w_i| for every i. Does not depend on the scale of the features.
    Box,
    /// ‖u‖ ≤ ‖w‖.
    Ball(Norm),
    /// ‖u‖₂ = this radius.
    Sphere(f64),
    /// u ≥ 0 and Σu = 1.
    Simplex,
    /// u ≥ 0 and Σu ≤ Σw.
    Positive,
}

impl Reach {
    /// The sentence that follows "against". With a number, the set has that radius (of a box: so many times the final
    /// weights) instead of reaching as far as the final weights.
    pub(crate) fn sentence(&self, within: Option<f64>) -> String {
        let size = match self {
            Self::Ball(Norm::L1) => "sum of magnitudes".to_owned(),
            Self::Ball(Norm::L2) => "sum of squares".to_owned(),
            Self::Ball(Norm::Lp(p)) => format!("{p}-norm"),
            Self::Ball(Norm::LInf) => "largest magnitude".to_owned(),
            Self::Box | Self::Sphere(_) | Self::Simplex | Self::Positive => String::new(),
        };
        match (self, within) {
            (Self::Box, None) => {
                "all weights with each weight no larger than the same weight at the end (in magnitude)".to_owned()
            }
            (Self::Box, Some(u)) => format!(
                "all weights with each weight no larger than {u} times the same weight at the end (in magnitude)"
            ),
            (Self::Ball(_), None) => {
                format!("all weights whose {size} is no larger than that of the final weights")
            }
            (Self::Ball(Norm::L2), Some(u)) => {
                format!("all weights whose sum of squares is at most the square of {u}")
            }
            (Self::Ball(_), Some(u)) => format!("all weights whose {size} is at most {u}"),
            (Self::Sphere(radius), _) => {
                format!("all weights whose sum of squares is the square of {radius}")
            }
            (Self::Simplex, _) => "all weights that are at least 0 and sum to 1".to_owned(),
            (Self::Positive, None) => {
                "all weights that are at least 0 with a sum no larger than that of the final weights"
                    .to_owned()
            }
            (Self::Positive, Some(u)) => {
                format!("all weights that are at least 0 with a sum of at most {u}")
            }
        }
    }

    /// Weights of the set, where these are the final ones: at times on its edge, at times inside.
    #[cfg(test)]
    pub(crate) fn sample(&self, w: &[f64], random: &mut geowalk::laws::Sampler) -> Vec<f64> {
        let depth = if random.unit() < 0.5 { 1.0 } else { random.unit() };
        let normals: Vec<f64> = w.iter().map(|_| random.normal()).collect();
        let scaled = |u: Vec<f64>, from: f64, to: f64| -> Vec<f64> {
            u.into_iter().map(|u| u * (to / from) * (1.0 - 1e-12)).collect()
        };
        // A corner in some coordinates, the rest 0.
        let sparse: Vec<f64> =
            normals.iter().map(|u| if random.unit() < 0.5 { 0.0 } else { *u }).collect();
        let chosen = if sparse.iter().all(|u| *u == 0.0) { normals } else { sparse };
        let positive = || chosen.iter().map(|u| u.abs()).collect::<Vec<f64>>();
        let sum = |u: &[f64]| u.iter().map(|u| u.abs()).sum::<f64>();
        match self {
            Self::Box => w.iter().map(|w| random.sign() * depth * w).collect(),
            Self::Ball(norm) => {
                let from = norm.above(&chosen);
                scaled(chosen, from, depth * norm.above(w))
            }
            Self::Sphere(radius) => {
                let from = Norm::L2.above(&chosen);
                scaled(chosen, from, *radius)
            }
            Self::Simplex => {
                let u = positive();
                let from = sum(&u);
                scaled(u, from, 1.0)
            }
            Self::Positive => {
                let u = positive();
                let from = sum(&u);
                scaled(u, from, depth * sum(w))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use geowalk::laws::Sampler;
    use geowalk::row::Block;
    use geowalk_data::{Dictionary, Features, Labels, Schema, Task};

    use super::*;
    use crate::certify::Which;
    use crate::train::{Plan, Session};

    /// Do weights u belong to the set of a sentence, as its words say? Each sentence is read here once more.
    fn is_meant(sentence: &str, u: &[f64], w: &[f64]) -> bool {
        let magnitudes = |w: &[f64]| w.iter().map(|w| w.abs()).sum::<f64>();
        let squares = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>();
        let sum = |w: &[f64]| w.iter().sum::<f64>();
        let positive = u.iter().all(|u| *u >= 0.0);
        let equal = |a: f64, b: f64| (a - b).abs() < 1e-9;
        match sentence {
            "all weights with each weight no larger than the same weight at the end (in magnitude)" => {
                u.iter().zip(w).all(|(u, w)| u.abs() <= w.abs())
            }
            "all weights with each weight no larger than 0.5 times the same weight at the end (in magnitude)" => {
                u.iter().zip(w).all(|(u, w)| u.abs() <= 0.5 * w.abs())
            }
            "all weights whose sum of magnitudes is no larger than that of the final weights" => {
                magnitudes(u) <= magnitudes(w)
            }
            "all weights whose sum of squares is no larger than that of the final weights" => {
                squares(u) <= squares(w)
            }
            "all weights whose 1.5-norm is no larger than that of the final weights" => {
                let power = |w: &[f64]| w.iter().map(|w| w.abs() * w.abs().sqrt()).sum::<f64>();
                power(u) <= power(w)
            }
            "all weights whose largest magnitude is no larger than that of the final weights" => {
                let most = |w: &[f64]| w.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
                most(u) <= most(w)
            }
            "all weights whose sum of squares is at most the square of 0.5" => squares(u) <= 0.25,
            "all weights whose sum of magnitudes is at most 0.5" => magnitudes(u) <= 0.5,
            "all weights whose sum of squares is the square of 2" => equal(squares(u), 4.0),
            "all weights whose sum of squares is the square of 1" => equal(squares(u), 1.0),
            "all weights that are at least 0 and sum to 1" => positive && equal(sum(u), 1.0),
            "all weights that are at least 0 with a sum no larger than that of the final weights" => {
                positive && sum(u) <= sum(w)
            }
            "all weights that are at least 0 with a sum of at most 0.5" => {
                positive && sum(u) <= 0.5
            }
            other => panic!("nobody has read the sentence '{other}'"),
        }
    }

    #[test]
    fn sentences_say_what_the_sets_are() {
        let norms = [Norm::L1, Norm::L2, Norm::Lp(1.5), Norm::LInf].map(Reach::Ball);
        let sets = [Reach::Box, Reach::Sphere(2.0), Reach::Simplex, Reach::Positive];
        let mut random = Sampler::new(5);
        for set in sets.into_iter().chain(norms) {
            for _ in 0..200 {
                let mut w: Vec<f64> = random.vector(4);
                if set == Reach::Positive {
                    w = w.iter().map(|w| w.abs()).collect();
                }
                let sentence = set.sentence(None);
                let u = set.sample(&w, &mut random);
                assert!(is_meant(&sentence, &u, &w), "{sentence}: {u:?} for {w:?}");
                // One weight that grows beyond every limit is in none of them.
                let mut far = u.clone();
                far[random.below(4)] += 100.0;
                assert!(!is_meant(&sentence, &far, &w), "{sentence}: {far:?} for {w:?}");
            }
        }
        // Smaller sets: radius 1/2, half of the final weights.
        for (set, w) in [
            (Reach::Box, vec![3.0, -1.0]),
            (Reach::Ball(Norm::L2), vec![0.3, 0.4]),
            (Reach::Ball(Norm::L1), vec![0.3, -0.2]),
            (Reach::Positive, vec![0.3, 0.2]),
        ] {
            let half = if set == Reach::Box { 0.5 } else { 1.0 };
            let inner: Vec<f64> = w.iter().map(|w| half * w).collect();
            for _ in 0..200 {
                let u = set.sample(&inner, &mut random);
                assert!(is_meant(&set.sentence(Some(0.5)), &u, &w), "{set:?}: {u:?}");
            }
        }
    }

    /// The largest regret against sampled weights, less the bound that is printed with the sentence.
    fn excess(walk: &str) -> f64 {
        let mut random = Sampler::new(11);
        let features = Features::Exact(Dictionary::from_names(["a", "b", "c"]).unwrap());
        let schema = Schema::from_parts(features, Labels::Numbers, vec![]);
        let mut block = Block::new();
        for _ in 0..150 {
            let x: Vec<f64> = (0..3).map(|_| random.uniform(0.0, 1.0)).collect();
            let y = 0.9 * x[0] + 0.05 * x[1] + 0.01 * random.normal();
            block.push_dense(&x, y, 1.0).unwrap();
        }
        let plan = Plan {
            walk: Some(walk.to_owned()),
            loss: Some("absolute".to_owned()),
            rate: "0.1".to_owned(),
            task: Some(Task::Regression),
            intercept: false,
            ..Plan::default()
        };
        let mut session = Session::new(&plan, schema, &block).unwrap();
        let rows = block.clone();
        session.learn(&mut block).unwrap();
        let reach = session.learner().reach();
        let report = session.summary().certificate.unwrap();
        assert_eq!(report.comparators, reach.sentence(None));
        let mut w = Vec::new();
        session.learner().weights(0, &mut w);
        let mut most = f64::NEG_INFINITY;
        for _ in 0..300 {
            let u = reach.sample(&w, &mut random);
            let known =
                session.certify(&Which::Weights(vec![u]), Some(vec![rows.clone()])).unwrap();
            most = most.max(known.regret().unwrap() - report.best().bound);
        }
        most
    }

    #[test]
    fn bounds_hold_for_all_weights_of_the_sentence() {
        for walk in ["free", "adagrad", "gd", "mirror:p-norm", "egu", "eg", "eg+-", "sphere"] {
            let excess = excess(walk);
            assert!(excess <= 0.0, "{walk}: {excess}");
        }
    }
}
