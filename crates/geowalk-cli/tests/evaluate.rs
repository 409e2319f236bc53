//! `geowalk evaluate`, and the same figures in the summaries of `boost` and `tree`.

mod support;

use support::Place;

fn cancer() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/breast-cancer.csv").to_owned()
}

#[test]
fn every_learner_has_the_same_figures() {
    let place = Place::new("evaluate");
    let data = cancer();
    for (learner, model) in [("boost", "rules"), ("tree", "tree"), ("train", "walk")] {
        let summary = place.ok(&[learner, &data, "--model", model, "--progress", "none"]);
        let text = place.ok(&["evaluate", model, &data]);
        assert!(text.contains("of 569 rows; always 'benign' has 62.7 %"), "{text}");
        assert!(text.contains("recall  precision  predicted as:  benign  malignant"), "{text}");
        let json = place.parsed(&["evaluate", model, &data, "--json"]);
        // What `predict` says, counted.
        let predicted = place.ok(&["predict", model, &data]);
        let table = std::fs::read_to_string(&data).unwrap();
        let labels = table.lines().skip(1).map(|row| row.rsplit(',').next().unwrap());
        let right = predicted.lines().zip(labels).filter(|(found, label)| found == label).count();
        let accuracy = json["accuracy"].as_f64().unwrap();
        assert!((accuracy - right as f64 / 569.0).abs() < 1e-12, "{json}");
        assert!(json["auc"].as_f64().unwrap() > 0.9 && json["log_loss"].as_f64().unwrap() < 1.0);
        assert_eq!(json["classes"][0]["predicted_as"].as_array().unwrap().len(), 2);
        // The summary has the same lines.
        if learner != "train" {
            assert!(summary.contains(&text), "{summary}\n{text}");
        }
    }
    let folds = place.ok(&["boost", &data, "--folds", "3", "--progress", "none"]);
    assert!(folds.contains("on rows held out by 3 folds\naccuracy "), "{folds}");
}

#[test]
fn numbers_and_rows_without_a_known_class() {
    let place = Place::new("evaluate-other");
    place.write("n.csv", "x,y\n1,2.5\n2,4.5\n3,6.5\n4,8.5\n");
    place.ok(&["train", "n.csv", "--model", "m", "--progress", "none"]);
    let text = place.ok(&["evaluate", "m", "n.csv"]);
    assert!(text.contains("on 4 rows; always guessing their mean has 2.2361"), "{text}");
    place.write("a.csv", "x,class\n1,a\n2,a\n3,b\n4,b\n");
    place.ok(&["tree", "a.csv", "--model", "m", "--progress", "none"]);
    place.write("b.csv", "x,class\n1,b\n2,a\n3,c\n4,b\n5,b\n");
    let ran = place.command(&["evaluate", "m", "b.csv"]).output().unwrap();
    let (out, notes) =
        (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert!(
        out.starts_with("accuracy       75.0 % of 4 rows; always 'b' has 75.0 %, so the model"),
        "{out}"
    );
    assert!(notes.contains("1 rows are of a class that the model does not know"), "{notes}");
    place.write("c.csv", "x\n1\n");
    place.refuses(&["evaluate", "m", "c.csv"], "class");
}
