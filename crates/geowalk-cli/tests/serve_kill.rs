//! The process is killed at random moments under load: every acknowledged row is there, none twice, the same
//! bits.
//! `GEOWALK_KILLS=1000 cargo test --release -p geowalk-cli --test serve_kill` kills it a thousand times.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // test code

#[path = "support/service.rs"]
mod service;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use service::{Client, Service};
use support::Place;

/// Row `k`; `n` names it and is not learned from. Names and classes come one by one, so the schema grows.
fn row(k: u64) -> String {
    let a = (k * 37 % 101) as f64 / 50.0 - 1.0;
    let class = if a > 0.1 || k.is_multiple_of(11) { "yes" } else { "no" };
    format!(
        "{{\"n\":{k},\"a\":{a},\"c\":\"v{}\",\"label\":\"{class}\"}}\n",
        k % 57 * (k / 500 + 1) % 131
    )
}

/// Rows of request `j`: one to five.
fn request(j: u64) -> String {
    (0..=(j % 5)).map(|i| row(5 * j + i)).collect()
}

const SPEC: &str = r#"m={"task":"binary","label":"label","ignore":["n"]}"#;

#[test]
fn killed_service_loses_nothing_and_keeps_its_bits() {
    let kills: u64 = std::env::var("GEOWALK_KILLS").map_or(50, |text| text.parse().unwrap());
    let place = Place::new("serve-kill");
    let command = || {
        place.command(&[
            "serve",
            "--dir",
            "state",
            "--listen",
            "127.0.0.1:0",
            "--keep-log",
            "--snapshot-rows",
            "400",
            "--model",
            SPEC,
        ])
    };
    let next = AtomicU64::new(0);
    let acknowledged: Mutex<BTreeMap<u64, u64>> = Mutex::default();
    let again: Mutex<Vec<u64>> = Mutex::default();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut torn, mut checked) = (0, 0);
    let send = |client: &mut Client, j: u64| -> Option<Value> {
        let path = format!("/v1/models/m/learn?id=r{j}");
        let (status, body) =
            client.ask("POST", &path, "application/x-ndjson", request(j).as_bytes()).ok()?;
        let object: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status, 200, "{object}");
        Some(object)
    };
    for kill in 0..=kills {
        let mut service = Service::start(command());
        torn += u64::from(service.notes.iter().any(|note| note.contains("unfinished write")));
        // What was acknowledged since the last start has the same answer now.
        let mut client = service.client();
        let known: Vec<(u64, u64)> =
            acknowledged.lock().unwrap().range(checked..).map(|(j, s)| (*j, *s)).collect();
        for (j, sequence) in known {
            let object = send(&mut client, j).unwrap();
            assert_eq!(
                (&object["repeated"], object["sequence"].as_u64()),
                (&true.into(), Some(sequence)),
                "request {j}"
            );
        }
        checked = next.load(Ordering::Relaxed).saturating_sub(200);
        if kill == kills {
            for j in again.lock().unwrap().drain(..) {
                let object = send(&mut client, j).unwrap();
                acknowledged.lock().unwrap().insert(j, object["sequence"].as_u64().unwrap());
            }
            finish(&place, service, &acknowledged.into_inner().unwrap(), torn, kills);
            return;
        }
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = Duration::from_micros(random >> 47); // up to 131 ms
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let Ok(mut client) = Client::connect(&service.address) else { return };
                    loop {
                        let old = again.lock().unwrap().pop();
                        let j = old.unwrap_or_else(|| next.fetch_add(1, Ordering::Relaxed));
                        let Some(object) = send(&mut client, j) else {
                            again.lock().unwrap().push(j);
                            return;
                        };
                        acknowledged
                            .lock()
                            .unwrap()
                            .insert(j, object["sequence"].as_u64().unwrap());
                    }
                });
            }
            std::thread::sleep(moment);
            // SIGKILL, while the clients wait for answers.
            let id = service.child.id().to_string();
            assert!(
                std::process::Command::new("kill").args(["-KILL", &id]).status().unwrap().success()
            );
        });
        service.child.wait().unwrap();
    }
}

fn finish(
    place: &Place,
    service: Service,
    acknowledged: &BTreeMap<u64, u64>,
    torn: u64,
    kills: u64,
) {
    let mut client = service.client();
    let model = client.bytes("/v1/models/m/model");
    let rows = place.ok(&["serve", "--dir", "state", "--rows", "m"]);
    let numbers: Vec<u64> = rows
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["n"].as_u64().unwrap())
        .collect();
    let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!(distinct.len(), numbers.len(), "a row is there twice");
    for j in acknowledged.keys() {
        assert!((0..=(j % 5)).all(|i| distinct.contains(&(5 * j + i))), "request {j} is lost");
    }
    let sent: u64 = acknowledged.keys().map(|j| 1 + j % 5).sum();
    assert_eq!(sent, numbers.len() as u64, "every row belongs to an acknowledged request");
    place.write("rows.jsonl", &rows);
    place.ok(&[
        "train",
        "rows.jsonl",
        "--task",
        "binary",
        "--label",
        "label",
        "--ignore",
        "n",
        "--model",
        "train.gw",
    ]);
    assert!(place.read("train.gw") == model, "the model of geowalk train has other bits");
    // A service that was never killed.
    let other =
        place.command(&["serve", "--dir", "calm", "--listen", "127.0.0.1:0", "--model", SPEC]);
    let calm = Service::start(other);
    let mut there = calm.client();
    for lines in rows.lines().collect::<Vec<_>>().chunks(173) {
        let (status, _) = there
            .ask("POST", "/v1/models/m/learn", "application/x-ndjson", lines.join("\n").as_bytes())
            .unwrap();
        assert_eq!(status, 200);
    }
    assert!(
        there.bytes("/v1/models/m/model") == model,
        "the service that was never killed has other bits"
    );
    let verified = place.ok(&["verify", "state"]);
    assert!(verified.starts_with("verified"), "{verified}");
    let (code, _) = service.terminate();
    assert_eq!(code, Some(0));
    let verified = place.ok(&["verify", "state"]);
    println!(
        "kills {kills}, requests {}, rows {}, torn tails {torn}",
        acknowledged.len(),
        numbers.len()
    );
    println!("{verified}");
}
