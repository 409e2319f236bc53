//! Every kind of picture on one page: what `scripts/look` photographs. Writes to the file that is named.

use std::fs;

use geowalk_page::{Bars, Cell, Mark, Page, Plot, SpherePath, Table, TrianglePath};

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "gallery.html".to_owned());
    let rounds = || (1..=2000).map(f64::from);
    let regret =
        rounds().map(|t| (t, 0.9 * t.sqrt() + ((t * 7919.0) % 13.0) / 13.0 * t.sqrt() / 3.0));
    let losses = |scale: f64| rounds().map(move |t| (t, scale / t.sqrt()));
    let turn = |t: f64| (2.0 - t * t, 2.0 - t, 0.2 + t * (1.5 - t));
    let walk: Vec<[f64; 3]> =
        (0..=80).map(|i| f64::from(i) / 20.0).map(turn).map(|(x, y, z)| [x, y, z]).collect();
    let chances = (0..=60).map(|i| f64::from(i) / 60.0).map(|t| {
        let (a, b) = (0.34 * (1.0 - t), 0.33 + 0.3 * t * (1.0 - t));
        [a, b, 1.0 - a - b]
    });
    let table = Table::new(["walk", "loss", "bound", "verdict"])
        .caption("Words left, numbers right")
        .row([
            "explicit:sphere".into(),
            0.9417.into(),
            1.3863.into(),
            Cell::Verdict(Mark::Good, "met".into()),
        ])
        .row([
            "a name with <markup> & more".into(),
            14.2741.into(),
            10.8109.into(),
            Cell::Verdict(Mark::Bad, "broken".into()),
        ])
        .row(["tiny".into(), 1.25e-9.into(), f64::INFINITY.into(), "".into()]);
    let page = Page::new("Every kind of picture")
        .contents()
        .section("Plots")
        .prose("A bound is shaded below; what has no place on an axis is counted underneath.")
        .figure(Plot::new("Regret below its bound").x("round").y("regret").log_x().bound("bound of the theorem", rounds().map(|t| (t, 2.0 * t.sqrt()))).line("regret", regret))
        .figure(Plot::new("Loss on two logarithmic axes").x("examples").y("average loss").log_x().log_y().line("gd", losses(1.0)).line("eg", losses(0.6)).dashed("free", losses(0.8)).steps("best expert", (1..=11).map(|k| (f64::from(1 << k), 0.5 / f64::from(k)))))
        .figure(Plot::new("Dots and a band").x("size").y("mistakes").band("between", (0..=20).map(|i| (f64::from(i), f64::from(i), 30.0 + 2.0 * f64::from(i)))).dots("measured", (0..=20).map(|i| (f64::from(i), 15.0 + 1.5 * f64::from(i) + f64::from(i * 17 % 9)))))
        .figure(Plot::new("A histogram").x("margin").y("rows").bars("rows", (-10..10).map(|i| (f64::from(i) / 10.0, f64::from(i + 1) / 10.0, f64::from(100 - i * i)))))
        .section("Names and values")
        .figure(Bars::new("Largest weights").bar("worst concave points", -5.21).bar("mean texture", 3.4).bar("a feature with a rather long name indeed", 1.1).bar("radius", -0.4))
        .figure(Plot::new("Nothing to show").line("a", [(f64::NAN, 1.0)]))
        .section("Paths")
        .figure(SpherePath::new("A walk on the sphere").path("w", walk).point("target", [1.0, -0.2, 0.3]))
        .figure(TrianglePath::new("A walk on the simplex", ["sun", "rain", "snow"]).path("p", chances).point("uniform", [1.0 / 3.0; 3]))
        .section("Tables and words")
        .table(table)
        .facts([("walk", "explicit:sphere(radius=1)"), ("rate", "0.5"), ("data", "a-file-with-a-rather-long-name-that-has-to-break-somewhere-on-a-small-screen.csv.gz")])
        .code("geowalk track SERIES.csv --order 2 --center");
    fs::write(path, page.html())
}
