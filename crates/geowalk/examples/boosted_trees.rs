//! Boosted trees on generated rows: fit, rounds chosen by held-out rows, probabilities.
use geowalk::boost::Surrogate;
use geowalk::boost::table::{Column, Table};
use geowalk::boost::trees::{Held, TreeBooster, TreeData, TreeLoss};
use geowalk::laws::Sampler;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut s = Sampler::new(1);
    let rows = std::env::args().nth(1).map_or(Ok(2000), |text| text.parse())?;
    let columns: Vec<Vec<f64>> = (0..30).map(|_| s.vector(rows)).collect();
    let label = |row: usize| {
        let x = |k: usize| columns[k][row];
        let z = x(0) * x(1) + x(2) - 0.5 * x(3) * x(3) + 0.5;
        if z > 0.0 { 1.0 } else { -1.0 }
    };
    let y: Vec<f64> =
        (0..rows).map(|row| if s.unit() < 0.1 { -label(row) } else { label(row) }).collect();
    let named = (0..).zip(&columns);
    let table =
        Table::new(named.map(|(k, x)| Column::numeric(format!("x{k}"), x.clone())).collect())?;
    let booster = TreeBooster::new(TreeLoss::Margin(Surrogate::parse("logistic")?));
    let data = TreeData::new(&table, &y, None, None, &booster)?;
    let start = std::time::Instant::now();
    let (model, rounds) = booster.fit(&data, 100, &mut |_| {})?;
    let last = rounds.last().map_or(f64::NAN, |round| round.risk);
    println!("100 rounds: risk {last:.4}, {:.3} s", start.elapsed().as_secs_f64());
    let start = std::time::Instant::now();
    let scores = model.scores(&table);
    println!("scores: {:.3} s, first {:.4}", start.elapsed().as_secs_f64(), scores[0]);
    if rows <= 20_000 {
        let parts: Vec<usize> = (0..rows).map(|row| row % 5).collect();
        let learned = booster.learn(&data, Held::Folds(&parts, 5), &mut |_| {})?;
        let chosen = learned.and_then(|learned| learned.chosen).ok_or("halted")?;
        println!("chosen: {} rounds, held-out loss {:.4}", chosen.best, chosen.curve[chosen.best]);
    }
    Ok(())
}
