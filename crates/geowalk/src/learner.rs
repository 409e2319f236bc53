//! # A learner by name
//! The front door of the crate: the walk is chosen at run time, by the names that `geowalk list walks` prints.

mod file;
mod table;

use std::path::{Path, PathBuf};

use crate::certify::{Bound, Certificate, Comparator, FirstOrder};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::loss::{AnyLoss, Loss};
use crate::row::{AnyRow, Sparse};
use crate::sum::Sum;
use crate::update::Round;
use table::AnyWalk;

/// A linear learner: a walk chosen by name, a loss, a rate, and a certificate of what was lost.
///
/// Rows are `&[f64]`, arrays, or [`Sparse`] rows. There is no intercept: give the rows a feature that is always 1.
/// A row is predicted first, then learned from. Names and parameters are those of the command line, and so are the bits
/// of the weights.
///
/// ```
/// use geowalk::Learner;
/// use geowalk::certify::Comparator;
///
/// let mut learner = Learner::new("gd", "logistic", 0.5)?;
/// learner.fit([(&[1.0, 2.0], 1.0), (&[1.0, -1.0], -1.0), (&[1.0, 3.0], 1.0)])?;
/// assert!(learner.predict(&[1.0, 2.0])? > 0.0);
/// // No fixed weights (0, u) with |u| <= 1 have lost less by more than this:
/// let certificate = learner.certificate(&Comparator::Box { radii: &[0.0, 1.0] });
/// assert!(certificate.bound < 1.5, "{certificate}");
/// # Ok::<(), geowalk::LearnerError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Learner {
    walk: Box<dyn AnyWalk>,
    /// The walk as it was named, with the number of features if it was given.
    text: String,
    loss: AnyLoss,
    rate: f64,
    bound: FirstOrder,
    total: Sum,
    /// 0, 1, 2, …: the indices of a dense row.
    indices: Vec<u32>,
}

/// What went wrong with a [`Learner`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnerError {
    /// A name or a parameter.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A row that cannot be learned from. The weights are what they were before it.
    #[error("row {row}: {error}")]
    Row {
        /// Its number, from 1, among all rows of this learner.
        row: u64,
        /// What is wrong with it.
        error: DomainError,
    },
    /// A file that cannot be written or read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file that holds no learner, or a damaged one.
    #[error("{}: {problem}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl From<DomainError> for LearnerError {
    fn from(error: DomainError) -> Self {
        Self::Config(error.into())
    }
}

impl Learner {
    /// The walk of that name (`gd`, `eg`, `free`, `explicit:sphere(radius=2)`, …; see [`names`](Learner::names)) with a
    /// loss, by name or as it is, at a constant rate. `free` has no rate and ignores it. New features may come at any
    /// time; walks that need their number beforehand say so, and [`with_features`](Learner::with_features) gives it.
    ///
    /// ```
    /// use geowalk::{Learner, loss::Huber};
    /// let learner = Learner::new("eg(signed=true, scale=4)", Huber::new(2.0)?, 0.1)?;
    /// assert_eq!(learner.walk(), "eg(signed=true, scale=4)");
    /// let error = Learner::new("eg2", "squared", 0.1).unwrap_err();
    /// assert!(error.to_string().starts_with("unknown walk 'eg2' (did you mean 'eg'?)"));
    /// # Ok::<(), geowalk::LearnerError>(())
    /// ```
    pub fn new<L>(walk: &str, loss: L, rate: f64) -> Result<Self, LearnerError>
    where
        L: TryInto<AnyLoss>,
        ConfigError: From<L::Error>,
    {
        Self::build(walk, loss.try_into().map_err(ConfigError::from)?, rate, None)
    }

    /// The same for rows of so many features, as walks on the manifolds of matrices and some others need it.
    ///
    /// ```
    /// use geowalk::Learner;
    /// assert!(Learner::new("explicit:torus", "squared", 0.1).is_err());
    /// let learner = Learner::with_features("explicit:torus", "squared", 0.1, 4)?;
    /// assert_eq!(learner.weights().len(), 4);
    /// # Ok::<(), geowalk::LearnerError>(())
    /// ```
    pub fn with_features<L>(
        walk: &str,
        loss: L,
        rate: f64,
        features: usize,
    ) -> Result<Self, LearnerError>
    where
        L: TryInto<AnyLoss>,
        ConfigError: From<L::Error>,
    {
        Self::build(walk, loss.try_into().map_err(ConfigError::from)?, rate, Some(features))
    }

    fn build(
        text: &str,
        loss: AnyLoss,
        rate: f64,
        features: Option<usize>,
    ) -> Result<Self, LearnerError> {
        error::parameter("rate", rate, Allowed::Closed(0.0, 1e150))?;
        let (walk, text) = table::build(text, &loss, features)?;
        let bound = FirstOrder::new(&loss.facts());
        let mut learner =
            Self { walk, text, loss, rate, bound, total: Sum::default(), indices: Vec::new() };
        learner.extend(features.unwrap_or(0));
        Ok(learner)
    }

    /// The names of all walks, their aliases among them.
    ///
    /// ```
    /// assert!(geowalk::Learner::names().any(|name| name == "mirror:simplex-entropy"));
    /// ```
    pub fn names() -> impl Iterator<Item = String> {
        table::names()
    }

    /// Enough indices for dense rows of n coordinates.
    fn extend(&mut self, n: usize) {
        let known = self.indices.len();
        self.indices.extend((known..n).filter_map(|i| u32::try_from(i).ok()));
    }

    /// The row in the form that walks take; of a dense row the coordinates that have an index.
    fn sparse<'a>(indices: &'a [u32], row: AnyRow<'a>) -> Result<Sparse<'a, f64>, DomainError> {
        match row {
            AnyRow::Sparse(row) => Ok(row),
            AnyRow::Dense(row) => {
                error::each("the row", row.0, Allowed::Finite)?;
                let n = row.0.len().min(indices.len());
                Ok(Sparse::distinct(&indices[..n], &row.0[..n], n))
            }
        }
    }

    /// Predicts, then learns: the round has the prediction, loss and slope before the step. On an error the weights
    /// are what they were.
    pub fn learn<'a>(&mut self, row: impl Into<AnyRow<'a>>, y: f64) -> Result<Round, LearnerError> {
        let row = row.into();
        if let AnyRow::Dense(dense) = row {
            self.extend(dense.0.len());
        }
        let number = self.total.count() + 1;
        let wrong = |error| LearnerError::Row { row: number, error };
        let labels = self.loss.facts().labels;
        if !labels.contains(y) {
            let (what, value, allowed) = ("the label", y, labels);
            return Err(wrong(DomainError::Scalar { what, value, allowed }));
        }
        let x = Self::sparse(&self.indices, row).map_err(wrong)?;
        let round = self.walk.step(x, y.into(), &self.loss, self.rate).map_err(wrong)?;
        self.bound.observe(&round, x);
        self.total.add(round.loss);
        Ok(round)
    }

    /// Learns from rows with labels, one after the other; gives the sum of the losses, each of a prediction made before
    /// the row was learned from. An error names the row; those before it have been learned from.
    pub fn fit<'a, R: Into<AnyRow<'a>>>(
        &mut self,
        rows: impl IntoIterator<Item = (R, f64)>,
    ) -> Result<f64, LearnerError> {
        let mut sum = Sum::default();
        for (row, y) in rows {
            sum.add(self.learn(row, y)?.loss);
        }
        Ok(sum.total())
    }

    /// ⟨w, x⟩. Features that have not been seen count as weight 0.
    pub fn predict<'a>(&self, row: impl Into<AnyRow<'a>>) -> Result<f64, LearnerError> {
        Ok(self.walk.predict(Self::sparse(&self.indices, row.into())?))
    }

    /// No less than the regret so far against the comparators, by the first-order theorem: it holds for every walk and
    /// every loss that is convex in the prediction.
    pub fn certificate(&self, comparator: &Comparator<'_>) -> Certificate {
        self.bound.certify(comparator)
    }

    /// The weights, one for each feature.
    pub fn weights(&self) -> Vec<f64> {
        let mut w = Vec::new();
        self.walk.read(&mut w);
        w
    }

    /// How many rows were learned from.
    pub fn rows(&self) -> u64 {
        self.total.count()
    }

    /// The sum of the losses so far, each of a prediction made before the row was learned from.
    pub fn total_loss(&self) -> f64 {
        self.total.total()
    }

    /// The walk as it was asked for.
    pub fn walk(&self) -> &str {
        &self.text
    }

    /// The loss.
    pub fn loss(&self) -> &AnyLoss {
        &self.loss
    }

    /// The rate.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Goes on at another rate.
    pub fn set_rate(&mut self, rate: f64) -> Result<(), LearnerError> {
        self.rate = error::parameter("rate", rate, Allowed::Closed(0.0, 1e150))?;
        Ok(())
    }

    /// Writes a file from which [`load`](Learner::load) goes on with the same bits. The file is complete or as before.
    ///
    /// ```
    /// use geowalk::Learner;
    /// let path = std::env::temp_dir().join("geowalk-learner-example");
    /// let mut learner = Learner::new("eg", "squared", 0.5)?;
    /// learner.learn(&[1.0, 0.0], 0.25)?;
    /// learner.save(&path)?;
    /// let mut again = Learner::load(&path)?;
    /// assert_eq!(again.learn(&[0.0, 1.0], 0.5)?, learner.learn(&[0.0, 1.0], 0.5)?);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), geowalk::LearnerError>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), LearnerError> {
        let path = path.as_ref();
        let fail = |error| LearnerError::File { path: path.to_owned(), error };
        if matches!(self.loss, AnyLoss::Custom(_)) {
            let problem = "a loss of your own cannot be written to a file; use one that has a name";
            return Err(LearnerError::Format {
                path: path.to_owned(),
                problem: problem.to_owned(),
            });
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}.part", std::process::id()));
        let beside = PathBuf::from(beside);
        let written = std::fs::write(&beside, file::write(self))
            .and_then(|()| std::fs::rename(&beside, path));
        written.map_err(|error| {
            let _ = std::fs::remove_file(&beside);
            fail(error)
        })
    }

    /// A learner from a file that [`save`](Learner::save) wrote.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LearnerError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|error| LearnerError::File { path: path.to_owned(), error })?;
        file::read(&bytes)
            .map_err(|problem| LearnerError::Format { path: path.to_owned(), problem })
    }
}
