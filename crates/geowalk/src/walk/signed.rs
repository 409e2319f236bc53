//! # Signed weights from positive ones
//! $$x \mapsto (U x, -U x), \qquad w = U (w^+ - w^-)$$
//! Runs any walk on positive weights on two copies of the features: EG±, EGU± and their twins. On the simplex the
//! weights then have $\Vert w \Vert_1 \le U$. Feature i becomes the coordinates 2i and 2i + 1. **Start** Both copies
//! are equal, so w = 0. **Cost** twice that of the walk. **Source** \[KW97\].

use super::Walk;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::learn::gauge::Gauge;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};

/// A walk on (Ux, −Ux).
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Signed, SimplexEntropy, Walk};
///
/// let mut walk = Signed::new(SimplexEntropy::new(), 2.0)?;
/// for _ in 0..500 {
///     walk.step(Dense(&[1.0, 0.0]), (-1.5).into(), &Squared, 0.1)?;
/// }
/// let mut w = Vec::new();
/// walk.read(&mut w);
/// assert!((w[0] + 1.5).abs() < 1e-9 && w[1].abs() < 1e-9, "{w:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Signed<W> {
    walk: W,
    scale: f64,
}

impl<W: Walk> Signed<W> {
    /// `walk` on (Ux, −Ux) with U = `scale` > 0.
    pub fn new(walk: W, scale: f64) -> Result<Self, ConfigError> {
        error::parameter("scale", scale, Allowed::Closed(1e-100, 1e100))?;
        Ok(Self { walk, scale })
    }

    /// The wrapped walk; its coordinates 2i and 2i + 1 are the weights of U x_i and −U x_i.
    pub fn inner(&self) -> &W {
        &self.walk
    }

    fn both<X>(&self, x: X) -> Both<X> {
        Both { x, scale: self.scale }
    }
}

/// The row (Ux, −Ux), interleaved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Both<X> {
    pub(crate) x: X,
    pub(crate) scale: f64,
}

impl<F: Real, X: Row<F>> Row<F> for Both<X> {
    #[inline]
    fn each(self, mut f: impl FnMut(usize, F)) {
        let scale = F::of(self.scale);
        self.x.each(|i, x| {
            f(2 * i, scale * x);
            f(2 * i + 1, -scale * x);
        });
    }

    fn bound(self) -> usize {
        2 * self.x.bound()
    }

    #[inline]
    fn span(self) -> (f64, f64, usize) {
        let (lo, hi, count) = self.x.span();
        // Rounding does not change the order.
        let most = self.scale.abs() * if -lo > hi { -lo } else { hi };
        if count == 0 { (lo, hi, 0) } else { (-most, most, 2 * count) }
    }
}

impl<W: Walk> Walk for Signed<W> {
    fn features(&self) -> usize {
        self.walk.features() / 2
    }

    fn grow(&mut self, n: usize) {
        self.walk.grow(2 * n);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.walk.predict(self.both(x))
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        let both = self.both(x);
        self.walk.step(both, target, loss, rate)
    }

    fn common(&self) -> f64 {
        self.walk.common()
    }

    fn unit(&self) -> f64 {
        self.walk.unit()
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.scale * (self.walk.local(2 * i)? - self.walk.local(2 * i + 1)?))
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        self.walk.gauge(self.both(x))
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.walk.read(w);
        for i in 0..w.len() / 2 {
            w[i] = self.scale * (w[2 * i] - w[2 * i + 1]);
        }
        w.truncate(w.len() / 2);
    }

    fn spec(&self) -> String {
        format!("signed({}, scale={})", self.walk.spec(), self.scale)
    }

    fn save_state(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.walk.save_state(put);
    }

    fn load_state(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.walk.load_state(get)
    }
}
