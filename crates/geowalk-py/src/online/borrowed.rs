//! # Numbers of a dictionary, read in place
//! The one file of the project with `unsafe` code. pyo3 takes a reference to each key and each value, gives both back, and asks twice for the size of the dictionary: with predictions and steps from
//! dictionaries of 30 numbers that was 15 % of all instructions (docs/runs/2026-11-18-python). Here they are borrowed.
//!
//! **Care** A borrowed key or value lives for as long as the dictionary is not changed. So between `PyDict_Next` and the last look at what it gave, nothing may run that can change it: no code of
//! anybody's (`__float__`, `__eq__`, `__del__`), and no other thread. Every value for which that is not certain ends the reading, and the row is read again in the safe way.
#![allow(unsafe_code)]

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::PyDict;

/// Reads the values of `x` into `numbers` for as long as its keys are those given, the same objects in the same order, and its values are numbers that no code of anybody's takes part in: floats and what is
/// derived of them (NumPy's float64), whole numbers, truth values. How many there were; None if anything else came, or more than `keys` or `numbers` have.
#[inline]
pub(super) fn read(
    x: &Bound<'_, PyDict>,
    keys: &[Py<PyAny>],
    numbers: &mut [f64],
) -> Option<usize> {
    let mut places = keys.iter().zip(numbers);
    // Where the interpreter has no lock, that of the dictionary keeps other threads away; elsewhere this is nothing.
    let all = with_critical_section(x, || {
        let (mut position, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: `x` is a dictionary and the thread is attached to the interpreter, both by its type; `position` starts at 0 and is then left to `PyDict_Next`; nothing in the loop changes the
        // dictionary, see below.
        while unsafe {
            ffi::PyDict_Next(x.as_ptr(), &raw mut position, &raw mut key, &raw mut value)
        } != 0
        {
            let (known, place) = places.next()?;
            // Addresses are compared, no reference is followed. `known` is owned by us, so its address is not that of another, newer key.
            if known.as_ptr() != key {
                return None;
            }
            // SAFETY: the dictionary owns `value`, and has not been changed since it gave it.
            *place = unsafe { number(x.py(), value) }?;
        }
        Some(())
    });
    all.map(|()| keys.len() - places.len())
}

/// The number that an object is, if no code of anybody's takes part.
///
/// # Safety
/// `value` is a living object, and stays one until the first call that may run somebody's code.
#[inline]
unsafe fn number(py: Python<'_>, value: *mut ffi::PyObject) -> Option<f64> {
    // SAFETY: `value` is alive. Of a float, and of anything derived from it, `PyFloat_AsDouble` reads the number that is in the object: no `__float__` is called, no error is possible. Types are compared along the
    // chain of bases, which runs no code either.
    unsafe {
        if ffi::PyFloat_CheckExact(value) != 0 {
            return Some(ffi::PyFloat_AsDouble(value));
        }
        if ffi::PyLong_CheckExact(value) != 0 || ffi::PyBool_Check(value) != 0 {
            // -1 is also the sign of an error, for a whole number beyond all floats. Making the error may run the garbage collector and with it anybody's code; but then neither `value` nor the
            // dictionary is looked at again.
            let number = ffi::PyLong_AsDouble(value);
            return (number != -1.0 || PyErr::take(py).is_none()).then_some(number);
        }
        (ffi::PyFloat_Check(value) != 0).then(|| ffi::PyFloat_AsDouble(value))
    }
}
