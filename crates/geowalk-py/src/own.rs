//! # Manifolds of Python classes
//! A subclass of `Manifold` with `origin`, `exp` and `gradient` as a manifold of the library. What its methods raise is kept
//! until the error of the library that follows from it becomes a Python exception.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use geowalk::DomainError;
use geowalk::geometry::Curvature;
use geowalk::geometry::manifolds::{AnyManifold, CustomManifold, UserManifold};
use pyo3::exceptions::{PyReferenceError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyWeakrefMethods, PyWeakrefReference};

use crate::convert::{Numbers, array};
use crate::error::config;
use crate::manifold::Manifold;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// What the last call of a method of the user's raised in this thread, if it did.
pub(crate) fn raised() -> Option<PyErr> {
    RAISED.with_borrow_mut(Option::take)
}

/// Re-raises it, where the library went on with NaN or another step.
pub(crate) fn settle() -> PyResult<()> {
    raised().map_or(Ok(()), Err)
}

/// What a class must define, and what it may.
const NEEDED: [&str; 3] = ["origin", "exp", "gradient"];
const OPTIONAL: [&str; 6] = ["inner", "log", "transport", "check", "injectivity", "curvature"];

/// The object, kept alive or not.
enum Object {
    Strong(Py<PyAny>),
    /// For the manifold that the object itself holds: no cycle.
    Weak(Py<PyWeakrefReference>),
}

struct OfPython {
    object: Object,
    shape: Vec<usize>,
    /// Which of `OPTIONAL` there are.
    defined: [bool; OPTIONAL.len()],
}

/// Does the class define it itself?
fn defines(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let base = object.py().get_type::<Manifold>().getattr(name)?;
    Ok(!object.get_type().getattr(name)?.is(&base))
}

impl OfPython {
    fn new(object: &Bound<'_, PyAny>, strong: bool) -> PyResult<Self> {
        let missing: Vec<&str> = NEEDED
            .into_iter()
            .filter_map(|name| (!defines(object, name).ok()?).then_some(name))
            .collect();
        if !missing.is_empty() {
            return Err(PyTypeError::new_err(format!(
                "a manifold of your own defines origin(), exp(p, v) and gradient(p, egrad); {} has no {}",
                object.get_type().name()?,
                missing.join(", ")
            )));
        }
        let mut defined = [false; OPTIONAL.len()];
        for (defined, name) in defined.iter_mut().zip(OPTIONAL) {
            *defined = defines(object, name)?;
        }
        let origin = object.call_method0("origin")?;
        let shape = Numbers::new("the origin", &origin)?.shape().to_vec();
        let object = if strong {
            Object::Strong(object.clone().unbind())
        } else {
            Object::Weak(PyWeakrefReference::new(object)?.unbind())
        };
        Ok(Self { object, shape, defined })
    }

    fn has(&self, name: &str) -> bool {
        OPTIONAL.iter().zip(self.defined).any(|(known, defined)| defined && *known == name)
    }

    /// Calls a method with points and vectors, and uses its answer.
    fn call<T>(
        &self,
        what: &'static str,
        arguments: &[&[f64]],
        answer: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, DomainError> {
        drop(raised());
        let called = Python::attach(|py| {
            let object = match &self.object {
                Object::Strong(object) => object.bind(py).clone(),
                Object::Weak(object) => object.bind(py).upgrade().ok_or_else(|| {
                    PyReferenceError::new_err("the manifold of your own is no longer there")
                })?,
            };
            let method = object.getattr(what)?;
            if what == "curvature" {
                return answer(&method);
            }
            let arguments = arguments.iter().map(|x| array(py, x.to_vec(), &self.shape));
            let arguments = arguments.collect::<PyResult<Vec<_>>>()?;
            answer(&method.call1(PyTuple::new(py, arguments)?)?)
        });
        called.map_err(|error| {
            RAISED.set(Some(error));
            DomainError::Undefined { what }
        })
    }

    /// The same where the answer is an array of the shape of a point.
    fn fill(
        &self,
        what: &'static str,
        arguments: &[&[f64]],
        out: &mut [f64],
    ) -> Result<(), DomainError> {
        self.call(what, arguments, |answer| {
            let found = Numbers::new("the answer of the manifold of your own", answer)?;
            if found.shape() != self.shape {
                let needed = format!(
                    "{what} must give the shape of a point, {}",
                    crate::error::tuple(&self.shape)
                );
                let what = "the answer of the manifold of your own";
                return Err(crate::error::shape(answer.py(), what, found.shape(), &needed));
            }
            out.copy_from_slice(found.slice()?);
            Ok(())
        })
    }
}

impl UserManifold for OfPython {
    fn origin(&self) -> Vec<f64> {
        let mut p = vec![f64::NAN; self.shape.iter().product()];
        // A failure leaves NaN, which is refused.
        let _ = self.fill("origin", &[], &mut p);
        p
    }

    fn gradient(&self, p: &[f64], covector: &[f64], out: &mut [f64]) -> Result<(), DomainError> {
        self.fill("gradient", &[p, covector], out)
    }

    fn exp(&self, p: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), DomainError> {
        self.fill("exp", &[p, v], out)
    }

    fn inner(&self, p: &[f64], u: &[f64], v: &[f64]) -> Option<Result<f64, DomainError>> {
        let found = || self.call("inner", &[p, u, v], |answer| answer.extract::<f64>());
        self.has("inner").then(found)
    }

    fn log(&self, p: &[f64], q: &[f64], out: &mut [f64]) -> Option<Result<(), DomainError>> {
        self.has("log").then(|| self.fill("log", &[p, q], out))
    }

    fn transport(&self, p: &[f64], q: &[f64], v: &mut [f64]) -> Option<Result<(), DomainError>> {
        self.has("transport").then(|| {
            let from = v.to_vec();
            self.fill("transport", &[p, q, &from], v)
        })
    }

    fn check(&self, p: &[f64]) -> Option<Result<(), DomainError>> {
        self.has("check").then(|| self.call("check", &[p], |_| Ok(())))
    }

    fn injectivity(&self, p: &[f64]) -> Option<f64> {
        let found = || self.call("injectivity", &[p], |answer| answer.extract::<f64>());
        self.has("injectivity").then(|| found().unwrap_or(f64::NAN))
    }

    fn curvature(&self) -> Option<Curvature> {
        let found = || self.call("curvature", &[], |answer| answer.extract::<(f64, f64)>());
        let (min, max) = self.has("curvature").then(found)?.ok()?;
        Some(Curvature { min, max })
    }
}

fn custom(object: &Bound<'_, PyAny>, name: &str, strong: bool) -> PyResult<CustomManifold> {
    let of_python = OfPython::new(object, strong)?;
    let shape = of_python.shape.clone();
    let made = CustomManifold::new(name, of_python, shape);
    made.map_err(|error| raised().unwrap_or_else(|| config(error)))
}

/// The manifold of an object of a subclass, which the object will hold.
pub(crate) fn manifold(object: &Bound<'_, PyAny>) -> PyResult<AnyManifold> {
    let name = object.get_type().name()?.to_string();
    Ok(AnyManifold::Custom(custom(object, &name, false)?))
}

/// The text by which walks and models know a manifold: its specification, or the name under which an
/// object of the user's is registered.
///
/// >>> from geowalk._geowalk import named_manifold
/// >>> from geowalk.geometry import Sphere
/// >>> named_manifold(Sphere(3))
/// 'sphere(radius=1)'
#[pyfunction]
pub(crate) fn named_manifold(manifold: &Bound<'_, Manifold>) -> PyResult<String> {
    // Objects that are registered live on, so that an address stays that of one.
    static NAMES: Mutex<BTreeMap<usize, String>> = Mutex::new(BTreeMap::new());
    let own = match Manifold::core(manifold)? {
        AnyManifold::Custom(own) => own,
        // These have walks that take any number of features.
        known @ (AnyManifold::Euclidean(_)
        | AnyManifold::Sphere(_)
        | AnyManifold::Simplex(_)
        | AnyManifold::PositiveOrthant(_)
        | AnyManifold::Hyperboloid(_)) => return Ok(known.spec()),
        known => return Ok(known.sized_spec()),
    };
    let address = manifold.as_ptr() as usize;
    let names = || NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = names().get(&address).cloned();
    if let Some(name) = known {
        return Ok(format!("custom({name})"));
    }
    let name = format!("{}#{}", own.name(), names().len() + 1);
    custom(manifold.as_any(), &name, true)?.register();
    names().insert(address, name.clone());
    Ok(format!("custom({name})"))
}
