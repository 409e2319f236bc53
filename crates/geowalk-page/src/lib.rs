//! # Pages and pictures
//! What reports are made of: a [`Page`] of sections, prose, definitions, tables and pictures, written as one HTML file that needs neither network nor script, follows
//! the reader's light or dark theme and fits a phone; and the pictures themselves, SVG, which can also stand alone as a file.
//!
//! * [`Plot`]: lines, steps, dots, bars, and the shaded band below a bound, on linear or logarithmic axes.
//! * [`Bars`]: named values, such as the largest weights.
//! * [`TreePicture`]: questions and where their answers lead.
//! * [`SpherePath`], [`TrianglePath`]: a walk on the 2-sphere, and on the simplex of three probabilities.
//!
//! Nothing here fails, and nothing is hidden: a value that has no place in a picture (not finite, or not positive on a logarithmic axis) is left out and counted in
//! the note below it, and a picture without data says so. The same data give the same text.
//!
//! ```
//! use geowalk_page::{Page, Plot, Table};
//! let losses = [(1.0, 0.69), (10.0, 0.31), (100.0, 0.12)];
//! let plot = Plot::new("Average loss").x("examples").y("loss").log_x().line("free", losses);
//! let table = Table::new(["walk", "loss"]).row(["free".into(), 0.12.into()]);
//! let page = Page::new("A run").section("Loss").prose("What was lost.").figure(plot).table(table);
//! assert!(page.html().starts_with("<!doctype html>"));
//! ```

mod bars;
mod page;
mod picture;
mod plot;
mod sphere;
mod table;
mod text;
mod theme;
mod tree;
mod triangle;

pub use bars::Bars;
pub use page::Page;
pub use picture::Picture;
pub use plot::Plot;
pub use sphere::SpherePath;
pub use table::{Cell, Mark, Table};
pub use text::{escape, number};
pub use theme::page as style;
pub use tree::{TreeNode, TreePicture};
pub use triangle::TrianglePath;
