//! # A vector with a common factor
//! $$w = c\,v, \qquad a\,w + b\,x = (a c)\Bigl(v + \frac{b}{a c}\,x\Bigr)$$
//! A change of all coordinates by a factor is a change of c; only the coordinates of x are touched. Σv² is kept beside them.
//! **Cost** O(nnz). **Care** when c leaves [1e-6, 1e6], or a is so small that w nearly vanishes beside x, the factor is
//! multiplied into v, in O(n). **Source** \[SSS07\], for gradient descent.

use super::tally::Tally;
use crate::Real;
use crate::error::{Allowed, ConfigError};
use crate::row::Row;
use crate::walk;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scaled {
    pub(super) c: f64,
    pub(super) v: Vec<f64>,
    /// Σv².
    pub(super) square: Tally,
    /// The logarithm of what v has been multiplied by so far, a number that need not be representable.
    pub(super) log_factor: f64,
}

impl Default for Scaled {
    fn default() -> Self {
        Self { c: 1.0, v: Vec::new(), square: Tally::default(), log_factor: 0.0 }
    }
}

impl Scaled {
    /// Adds coordinates: `start(i)` is what v_i would be if nothing had been multiplied into v.
    pub(super) fn grow(&mut self, n: usize, start: impl Fn(usize) -> f64) {
        let factor = Real::exp(self.log_factor);
        for i in self.v.len()..n {
            let v = factor * start(i);
            self.square.square(0.0, v);
            self.v.push(v);
        }
    }

    /// ‖w‖².
    pub(super) fn norm2(&self) -> f64 {
        self.c * self.c * self.square.value()
    }

    /// w ← a·w + b·x.
    pub(super) fn blend<X: Row<f64>>(&mut self, a: f64, x: X, b: f64) {
        if a.abs() < 1e-3 {
            self.multiply(a);
        } else {
            self.c *= a;
        }
        let step = b / self.c;
        let Self { v, square, .. } = self;
        x.each(|i, x| {
            if let Some(v) = v.get_mut(i) {
                let new = *v + step * x;
                square.square(*v, new);
                *v = new;
            }
        });
        if !(1e-6..=1e6).contains(&self.c.abs()) {
            self.multiply(1.0);
        } else if self.square.worn() {
            self.sum();
        }
    }

    /// w ← a·w, with c = ±1.
    fn multiply(&mut self, a: f64) {
        let by = (a * self.c).abs();
        for v in &mut self.v {
            *v *= by;
        }
        self.log_factor += Real::ln(by.max(f64::MIN_POSITIVE));
        self.c = f64::copysign(1.0, a * self.c);
        self.sum();
    }

    fn sum(&mut self) {
        self.square = Tally::of(self.v.iter().map(|v| v * v));
    }

    pub(super) fn read(&self, w: &mut Vec<f64>) {
        w.clear();
        w.extend(self.v.iter().map(|v| self.c * v));
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("v", &self.v);
        put("factors", &[self.c, self.log_factor]);
        self.square.save("square", put);
    }

    pub(super) fn load(
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<Self, ConfigError> {
        let [c, log_factor] = walk::numbers(get, "factors", Allowed::Finite)?;
        walk::scalar("the size of the common factor", c.abs(), Allowed::Positive)?;
        let v = walk::array(get, "v", Allowed::Finite)?;
        Ok(Self { c, v, square: Tally::load("square", get)?, log_factor })
    }
}
