//! `geowalk serve` as its users meet it: over HTTP.

#![allow(clippy::unwrap_used, clippy::panic, clippy::too_many_lines, clippy::format_collect)] // test code

#[path = "support/service.rs"]
mod service;
mod support;

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use service::{Client, Service};
use support::Place;

fn start(place: &Place, more: &[&str]) -> Service {
    let args = ["serve", "--dir", "state", "--listen", "127.0.0.1:0"];
    Service::start(place.command(&[&args, more].concat()))
}

const BINARY: &str = r#"m={"task":"binary","label":"label"}"#;

/// Rows that tell two classes apart.
fn rows(from: u64, count: u64) -> String {
    let row = |k: u64| {
        let x = (k * 29 % 53) as f64 / 26.0 - 1.0;
        format!(
            "{{\"x\":{x},\"z\":{},\"label\":\"{}\"}}\n",
            k % 3,
            if x > 0.0 { "yes" } else { "no" }
        )
    };
    (from..from + count).map(row).collect()
}

fn learn(client: &mut Client, rows: &str) -> Value {
    let (status, body) =
        client.ask("POST", "/v1/models/m/learn", "application/x-ndjson", rows.as_bytes()).unwrap();
    let object = String::from_utf8(body).unwrap();
    assert_eq!(status, 200, "{object}");
    serde_json::from_str(&object).unwrap()
}

#[test]
fn learns_predicts_and_restarts_to_the_same_bits() {
    let place = Place::new("serve-first");
    let service = start(&place, &["--model", BINARY]);
    let mut client = service.client();
    assert_eq!(learn(&mut client, &rows(0, 300))["sequence"], 300);
    let predicted = client.post(
        "/v1/models/m/predict?proba=true",
        r#"[{"x": 0.9, "z": 1},
        {"x": -0.9, "z": 1}]"#,
    );
    assert_eq!(predicted["predictions"], json!(["yes", "no"]));
    assert!(predicted["probabilities"][0]["yes"].as_f64().unwrap() > 0.8, "{predicted}");
    let described = client.get("/v1/models/m");
    assert_eq!((&described["examples"], &described["sequence"]), (&json!(300), &json!(300)));
    assert_eq!(client.get("/v1/models")["models"], json!(["m"]));
    assert_eq!(client.get("/v1/models/m/certificate")["certificate"]["status"], "valid");
    let model = client.bytes("/v1/models/m/model");
    place.write("rows.jsonl", rows(0, 300));
    place.ok(&[
        "train",
        "rows.jsonl",
        "--task",
        "binary",
        "--label",
        "label",
        "--model",
        "train.gw",
    ]);
    assert!(place.read("train.gw") == model);
    let (code, notes) = service.terminate();
    assert_eq!(code, Some(0), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("stopped at sequence 300")), "{notes:?}");
    let service = start(&place, &[]);
    assert!(service.notes[0].contains("0 requests replayed"), "{:?}", service.notes);
    let mut client = service.client();
    assert!(client.bytes("/v1/models/m/model") == model);
    // The model file that was downloaded is another model.
    let (status, _) =
        client.ask("POST", "/v1/models/copy", "application/octet-stream", &model).unwrap();
    assert_eq!(status, 201);
    assert!(client.bytes("/v1/models/copy/model") == model);
    client.json(200, "DELETE", "/v1/models/copy", "");
    client.json(404, "GET", "/v1/models/copy", "");
}

#[test]
fn formats_give_the_same_predictions() {
    let place = Place::new("serve-formats");
    let service = start(&place, &["--model", r#"m={"task":"binary","label":"label"}"#]);
    let mut client = service.client();
    let csv = "x,color,label\n1,red,yes\n-1,blue,no\n2,red,yes\n-2,blue,no\n";
    let (status, body) = client
        .ask("POST", "/v1/models/m/learn", "text/csv; charset=utf-8", csv.as_bytes())
        .unwrap();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    let json = client.post("/v1/models/m/predict", r#"{"x": 1.5, "color": "red"}"#);
    let (_, body) =
        client.ask("POST", "/v1/models/m/predict", "text/csv", b"x,color\n1.5,red\n").unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["predictions"], json["predictions"]);
    client.json(201, "POST", "/v1/models/vw", r#"{"task": "binary"}"#);
    let vw = b"1 |f a b\n-1 |f c\n1 |f a\n-1 |f c d\n";
    assert_eq!(client.ask("POST", "/v1/models/vw/learn", "text/x-vw", vw).unwrap().0, 200);
    let (_, body) =
        client.ask("POST", "/v1/models/vw/predict", "text/x-vw", b"|f a\n|f c\n").unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["predictions"], json!([1, -1]));
    client.json(201, "POST", "/v1/models/svm", r#"{"task": "regression"}"#);
    let svm = b"1.5 1:1 3:2\n-2 2:1\n";
    assert_eq!(client.ask("POST", "/v1/models/svm/learn", "text/x-libsvm", svm).unwrap().0, 200);
    // The Open Inference Protocol: one tensor, and a tensor for each column.
    let infer = client.post("/v2/models/svm/infer", r#"{"id":"7","inputs":[{"name":"x","datatype":"FP64","shape":[2,3],"data":[1,0,2,0,1,0]}]}"#);
    let (_, body) = client
        .ask("POST", "/v1/models/svm/predict", "text/x-libsvm", b"0 1:1 3:2\n0 2:1\n")
        .unwrap();
    let plain: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (&infer["id"], &infer["outputs"][0]["data"]),
        (&json!("7"), &plain["predictions"]),
        "{infer}"
    );
    let infer = client.post(
        "/v2/models/m/infer",
        r#"{"inputs":[{"name":"x","datatype":"FP64","shape":[1],"data":[1.5]},{"name":"color","datatype":"BYTES","shape":[1],"data":["red"]}]}"#,
    );
    assert_eq!(infer["outputs"][0]["data"], json["predictions"]);
    assert_eq!(client.get("/v2/models/m/ready")["ready"], true);
}

#[test]
fn labels_that_come_later_are_learned_once() {
    let place = Place::new("serve-feedback");
    let service = start(&place, &["--model", BINARY, "--keep-log", "--waiting", "2"]);
    let mut client = service.client();
    learn(&mut client, &rows(0, 20));
    client.post("/v1/models/m/predict?id=a", r#"{"x": 0.5, "z": 0}"#);
    let first = client.post("/v1/models/m/feedback", r#"{"id": "a", "label": "yes"}"#);
    assert_eq!((&first["sequence"], &first["repeated"]), (&json!(21), &json!(false)));
    let again = client.post("/v1/models/m/feedback", r#"{"id": "a", "label": "yes"}"#);
    assert_eq!((&again["sequence"], &again["repeated"]), (&json!(21), &json!(true)));
    let other = client.json(409, "POST", "/v1/models/m/feedback", r#"{"id": "a", "label": "no"}"#);
    assert!(other["detail"].as_str().unwrap().contains("another label"), "{other}");
    let served = client.get("/v1/models/m")["served"].clone();
    assert_eq!(served["examples"], 1);
    assert!(served["loss"].as_f64().unwrap() > 0.0);
    for id in ["b", "c", "d"] {
        client.post(&format!("/v1/models/m/predict?id={id}"), r#"{"x": 0.1, "z": 2}"#);
    }
    client.json(404, "POST", "/v1/models/m/feedback", r#"{"id": "b", "label": "no"}"#);
    let metrics = String::from_utf8(client.bytes("/metrics")).unwrap();
    assert!(metrics.contains("geowalk_labels_missed_total{model=\"m\"} 1"), "{metrics}");
    let bad = client.json(422, "POST", "/v1/models/m/feedback", r#"{"id": "c", "label": "maybe"}"#);
    assert!(bad["detail"].as_str().unwrap().contains("maybe"), "{bad}");
    client.post("/v1/models/m/feedback", r#"{"id": "c", "label": "no"}"#);
    // The rows of the log, with the labels that came later, are what geowalk train learns from.
    let model = client.bytes("/v1/models/m/model");
    place.write("rows.jsonl", place.ok(&["serve", "--dir", "state", "--rows", "m"]));
    place.ok(&[
        "train",
        "rows.jsonl",
        "--task",
        "binary",
        "--label",
        "label",
        "--model",
        "train.gw",
    ]);
    assert!(place.read("train.gw") == model);
    drop(service);
    let service = start(&place, &[]);
    assert_eq!(service.client().get("/v1/models/m")["served"]["examples"], 2);
}

#[test]
fn batches_are_atomic_and_ids_answer_once() {
    let place = Place::new("serve-atomic");
    let service = start(&place, &["--model", BINARY]);
    let mut client = service.client();
    learn(&mut client, &rows(0, 10));
    let before = client.bytes("/v1/models/m/model");
    let bad = format!("{}{{\"x\": oops}}\n", rows(10, 5));
    let fault =
        client.ask("POST", "/v1/models/m/learn", "application/x-ndjson", bad.as_bytes()).unwrap();
    let fault: Value = serde_json::from_slice(&fault.1).unwrap();
    assert_eq!((&fault["status"], &fault["line"]), (&json!(422), &json!(6)), "{fault}");
    assert!(fault["remedy"].as_str().unwrap().contains("nothing of it"), "{fault}");
    let third = format!("{}{{\"x\": 1, \"new\": 4, \"label\": \"maybe\"}}\n", rows(10, 5));
    let fault =
        client.ask("POST", "/v1/models/m/learn", "application/x-ndjson", third.as_bytes()).unwrap();
    assert_eq!(fault.0, 422, "{}", String::from_utf8_lossy(&fault.1));
    assert!(
        client.bytes("/v1/models/m/model") == before,
        "neither rows nor names of a refused batch stay"
    );
    let path = "/v1/models/m/learn?id=one";
    let send = |client: &mut Client, rows: &str| {
        client.ask("POST", path, "application/x-ndjson", rows.as_bytes()).unwrap()
    };
    assert_eq!(send(&mut client, &rows(10, 3)).0, 200);
    let (status, body) = send(&mut client, &rows(10, 3));
    assert_eq!(
        (status, &serde_json::from_slice::<Value>(&body).unwrap()["sequence"]),
        (200, &json!(13))
    );
    assert_eq!(send(&mut client, &rows(11, 3)).0, 409);
    assert_eq!(client.get("/v1/models/m")["examples"], 13);
}

#[test]
fn rollback_shadow_and_promote_survive_a_kill() {
    let place = Place::new("serve-back");
    let mut service = start(&place, &["--model", BINARY, "--keep-log"]);
    let mut client = service.client();
    learn(&mut client, &rows(0, 40));
    let good = client.bytes("/v1/models/m/model");
    learn(&mut client, &rows(40, 10));
    client.json(409, "POST", "/v1/models/m/rollback", r#"{"sequence": 45}"#);
    client.json(409, "POST", "/v1/models/m/rollback", r#"{"sequence": 4000}"#);
    assert_eq!(client.post("/v1/models/m/rollback", r#"{"sequence": 40}"#)["sequence"], 51);
    assert!(client.bytes("/v1/models/m/model") == good);
    learn(&mut client, &rows(50, 10));
    client.post(
        "/v1/models/m/shadow",
        r#"{"task": "binary", "label": "label", "walk": "gd", "rate": 0.5}"#,
    );
    learn(&mut client, &rows(60, 30));
    let shadow = client.get("/v1/models/m/certificate")["shadow"].clone();
    assert_eq!(
        (&shadow["examples"], &shadow["shadow_examples"]),
        (&json!(30), &json!(30)),
        "{shadow}"
    );
    let measures = shadow["intervals"]["measures"].as_array().unwrap();
    let names: Vec<_> = measures.iter().map(|measure| measure["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["error", "log_loss"], "{shadow}");
    for measure in measures {
        let [low, difference, high] =
            ["low", "difference", "high"].map(|key| measure[key].as_f64().unwrap());
        assert!(low < difference && difference < high, "{measure}");
        assert_eq!((&measure["rows"], &measure["better"]), (&json!(30), &Value::Null), "{measure}");
    }
    let now = client.bytes("/v1/models/m/model");
    service.child.kill().unwrap();
    service.child.wait().unwrap();
    let service = start(&place, &["--keep-log"]);
    let mut client = service.client();
    assert!(client.bytes("/v1/models/m/model") == now, "the same bits after a kill");
    assert_eq!(client.get("/v1/models/m/certificate")["shadow"], shadow);
    client.post("/v1/models/m/promote", "");
    assert_eq!(client.get("/v1/models/m")["walk"], "gd");
    assert!(client.get("/v1/models/m")["shadow"].is_null());
    client.json(409, "POST", "/v1/models/m/promote", "");
    client.post("/v1/models/m/snapshot", "");
    // Back over the promotion.
    client.post("/v1/models/m/rollback", r#"{"sequence": 40}"#);
    assert!(client.bytes("/v1/models/m/model") == good);
    let verified = place.ok(&["verify", "state"]);
    assert!(verified.starts_with("verified"), "{verified}");
}

/// A challenger that is worse for sure is recognised, and a snapshot keeps the interval to the bit.
#[test]
fn intervals_decide_between_model_and_shadow() {
    let place = Place::new("serve-duel");
    let service = start(&place, &["--model", BINARY]);
    let mut client = service.client();
    learn(&mut client, &rows(0, 100));
    let slow =
        r#"{"task": "binary", "label": "label", "walk": "gd", "rate": 1e-9, "intercept": false}"#;
    client.post("/v1/models/m/shadow", slow);
    learn(&mut client, &rows(100, 1500));
    let shadow = client.get("/v1/models/m")["shadow"].clone();
    let of_log_loss = &shadow["intervals"]["measures"][1];
    assert_eq!((&of_log_loss["rows"], &of_log_loss["better"]), (&json!(1500), &json!("model")));
    assert!(of_log_loss["high"].as_f64().unwrap() < 0.0, "{shadow}");
    let (code, _) = service.terminate();
    assert_eq!(code, Some(0));
    let again = start(&place, &[]);
    let mut client = again.client();
    assert_eq!(client.get("/v1/models/m")["shadow"], shadow);
    // Numbers need a range.
    let numbers = r#"{"task": "regression", "label": "y", "y_range": [0, 10]}"#;
    for (name, spec) in [("n", numbers), ("o", r#"{"task": "regression", "label": "y"}"#)] {
        client.json(201, "POST", &format!("/v1/models/{name}"), spec);
        client.post(&format!("/v1/models/{name}/shadow"), numbers);
        client.post(&format!("/v1/models/{name}/learn"), r#"[{"x": 1, "y": 3}, {"x": 2, "y": 6}]"#);
    }
    let of = |client: &mut Client, name: &str| {
        client.get(&format!("/v1/models/{name}/certificate"))["shadow"]["intervals"].clone()
    };
    let measure = &of(&mut client, "n")["measures"][0];
    assert_eq!((&measure["name"], &measure["difference"]), (&json!("squared_error"), &json!(0.0)));
    let none = of(&mut client, "o");
    assert!(none["reason"].as_str().unwrap().contains("y_range"), "{none}");
}

/// Requests beyond the queue are refused with the time to wait; sent again, each is learned once.
#[test]
fn full_queue_answers_429_and_loses_nothing() {
    let place = Place::new("serve-queue");
    let service = start(&place, &["--model", BINARY, "--queue", "1"]);
    let many = rows(0, 2000);
    let refused = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for k in 0..16 {
            let (address, many, refused) = (&service.address, &many, &refused);
            scope.spawn(move || {
                let mut client = Client::connect(address).unwrap();
                let path = format!("/v1/models/m/learn?id=r{k}");
                for attempt in 0.. {
                    assert!(attempt < 10_000, "request {k} is never accepted");
                    let answer = client.ask("POST", &path, "application/x-ndjson", many.as_bytes());
                    let (status, body) = answer.unwrap();
                    if status == 200 {
                        return;
                    }
                    let problem: Value = serde_json::from_slice(&body).unwrap();
                    assert_eq!((status, &problem["status"]), (429, &json!(429)), "{problem}");
                    let wait = client.headers.iter().any(|line| line == "retry-after: 1");
                    assert!(wait, "{:?}", client.headers);
                    refused.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
    });
    assert!(refused.into_inner() > 0, "the queue was never full");
    assert_eq!(service.client().get("/v1/models/m")["examples"], 32_000);
}

#[test]
fn tokens_limits_and_paths_are_checked() {
    let place = Place::new("serve-limits");
    place.write("tokens", "0123456789abcdef read,learn m\nfedcba9876543210 admin *\n");
    let flags = [
        "--model",
        BINARY,
        "--tokens",
        "tokens",
        "--max-body",
        "2000",
        "--max-rows",
        "20",
        "--max-features",
        "10",
        "--timeout",
        "1",
    ];
    let service = start(&place, &flags);
    let mut client = service.client();
    assert_eq!(client.json(401, "GET", "/v1/models/m", "")["status"], 401);
    assert!(client.headers.iter().any(|line| line == "www-authenticate: bearer"));
    client.token = Some("0123456789abcdef".to_owned());
    client.get("/v1/models/m");
    client.json(403, "DELETE", "/v1/models/m", "");
    client.json(403, "GET", "/v1/models/secret", "");
    client.json(403, "GET", "/metrics", "");
    client.token = Some("fedcba9876543210".to_owned());
    client.json(404, "GET", "/v1/models/secret", "");
    client.bytes("/metrics");
    for name in ["..", "%2e%2e", "A", "a%20b", "-a", &"a".repeat(65)] {
        client.json(400, "POST", &format!("/v1/models/{name}"), r#"{"task": "binary"}"#);
    }
    let fault = client.json(400, "POST", "/v1/models/x", r#"{"tasks": "binary"}"#);
    assert!(fault["detail"].as_str().unwrap().contains("unknown setting 'tasks'"), "{fault}");
    client.json(400, "POST", "/v1/models/x", r#"{"walk": "no-such-walk"}"#);
    client.json(
        400,
        "POST",
        "/v1/models/x",
        r#"{"walk": "mirror:mahalanobis(sigma=/etc/passwd)"}"#,
    );
    client.json(409, "POST", "/v1/models/m", r#"{"task": "binary"}"#);
    client.json(404, "GET", "/etc/passwd", "");
    client.json(405, "PUT", "/v1/models/m", "");
    let learn = |client: &mut Client, kind: &str, body: &[u8]| {
        client.ask("POST", "/v1/models/m/learn", kind, body).unwrap().0
    };
    assert_eq!(learn(&mut client, "image/png", b"x"), 415);
    assert_eq!(learn(&mut client, "application/x-ndjson", &[0x1f, 0x8b, 8, 0]), 415);
    assert_eq!(learn(&mut client, "application/x-ndjson", b"  \n"), 422);
    assert_eq!(learn(&mut client, "application/x-ndjson", rows(0, 30).as_bytes()), 413);
    let wide: String = (0..20).map(|k| format!("\"f{k}\":1,")).collect();
    assert_eq!(
        learn(&mut client, "application/json", format!("{{{wide}\"label\":\"a\"}}").as_bytes()),
        422
    );
    assert_eq!(client.json(409, "POST", "/v1/models/m/predict", r#"{"x": 1}"#)["status"], 409);
    assert_eq!(learn(&mut client, "application/x-ndjson", rows(0, 100).as_bytes()), 413);
    // A body that does not arrive.
    let mut slow = service.client();
    let head = b"POST /v1/models/m/learn HTTP/1.1\r\nHost: t\r\nContent-Type: text/csv\r\nAuthorization: Bearer 0123456789abcdef\r\nContent-Length: 100\r\n\r\nx";
    assert_eq!(slow.raw(head).unwrap().0, 408);
    let mut client = service.client();
    assert_eq!(client.get("/readyz")["ready"], true);
}

#[test]
fn openapi_lists_what_is_served() {
    let place = Place::new("serve-openapi");
    let service = start(&place, &["--model", BINARY]);
    let mut client = service.client();
    let document = client.get("/openapi.json");
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            if path == "/v1/events" {
                continue; // it does not end
            }
            let path = path.replace("{model}", "m");
            let (status, _) = client.ask(&method.to_uppercase(), &path, "text/none", b"").unwrap();
            assert!(
                ![404, 405, 500].contains(&status)
                    || path == "/v1/models/m"
                    || path.ends_with("shadow"),
                "{method} {path}: {status}"
            );
            if method == "delete" && path == "/v1/models/m" {
                client.json(201, "POST", "/v1/models/m", r#"{"task":"binary"}"#);
            }
        }
    }
    let page = String::from_utf8(client.bytes("/")).unwrap();
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org").count()
    );
    assert!(!page.contains("https://"), "the page needs no network");
}

#[test]
fn damaged_log_stops_the_start_with_its_place() {
    let place = Place::new("serve-damage");
    let mut service = start(&place, &["--model", BINARY]);
    let mut client = service.client();
    for k in 0..5 {
        learn(&mut client, &rows(4 * k, 4));
    }
    let model = client.bytes("/v1/models/m/model");
    service.child.kill().unwrap();
    service.child.wait().unwrap();
    let log = "state/models/00000001/log/00000000000000000000.log";
    let bytes = place.read(log);
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 4;
    place.write(log, &flipped);
    let command = || place.command(&["serve", "--dir", "state", "--listen", "127.0.0.1:0"]);
    let notes = Service::try_start(command()).err().unwrap().join("\n");
    assert!(notes.contains("damaged at byte") && notes.contains("restore the file"), "{notes}");
    assert!(place.run(&["verify", "state"]).status.code() == Some(1));
    // An unfinished write is moved aside, and reported.
    place.write(log, [&bytes[..], b"gwr1half a record"].concat());
    let service = Service::start(command());
    assert!(service.notes[0].contains("17 bytes of an unfinished write"), "{:?}", service.notes);
    assert!(service.client().bytes("/v1/models/m/model") == model);
    // Two services cannot share a folder.
    let notes = Service::try_start(command()).err().unwrap().join("\n");
    assert!(notes.contains("another service uses this folder"), "{notes}");
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_and_read_only_folder_are_said() {
    let place = Place::new("serve-full");
    // A limit on the size of files refuses writes as a full disk does.
    let mut command = Command::new("bash");
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} serve --dir state --listen 127.0.0.1:0 --model '{BINARY}'",
        env!("CARGO_BIN_EXE_geowalk")
    );
    command.current_dir(&place.0).args(["-c", &script]);
    let service = Service::start(command);
    let mut client = service.client();
    let mut accepted = 0;
    let refused = loop {
        let (status, body) = client
            .ask(
                "POST",
                "/v1/models/m/learn",
                "application/x-ndjson",
                rows(accepted, 10).as_bytes(),
            )
            .unwrap();
        if status != 200 {
            break (status, String::from_utf8(body).unwrap());
        }
        accepted += 10;
        assert!(accepted < 10_000);
    };
    assert!(
        refused.0 == 507 && refused.1.contains("the disk of the service is full"),
        "{refused:?}"
    );
    assert_eq!(client.get("/v1/models/m")["examples"], accepted);
    client.post("/v1/models/m/predict", r#"{"x": 0.5, "z": 1}"#);
    let model = client.bytes("/v1/models/m/model");
    drop(service);
    let service = start(&place, &[]);
    assert!(service.client().bytes("/v1/models/m/model") == model);
    drop(service);
    // Nothing can be written to /proc.
    let command = place.command(&["serve", "--dir", "/proc/geowalk", "--listen", "127.0.0.1:0"]);
    let notes = Service::try_start(command).err().unwrap().join("\n");
    assert!(notes.contains("cannot create /proc/geowalk/models"), "{notes}");
    let command = place.command(&["serve", "--dir", "state", "--listen", "0.0.0.0:0"]);
    let notes = Service::try_start(command).err().unwrap().join("\n");
    assert!(notes.contains("give --tokens FILE"), "{notes}");
    assert!(fs::exists(place.0.join("state/lock")).unwrap());
}

#[test]
fn events_tell_what_was_learned() {
    use std::io::{Read, Write};
    let place = Place::new("serve-events");
    let service = start(&place, &["--model", BINARY]);
    learn(&mut service.client(), &rows(0, 50));
    let mut stream = std::net::TcpStream::connect(&service.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"GET /v1/events HTTP/1.1\r\nHost: t\r\n\r\n").unwrap();
    let mut text = String::new();
    let mut part = [0; 4096];
    while !text.contains("\"examples\":50") {
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    assert!(text.contains("text/event-stream") && text.contains("\"history\":["), "{text}");
    let (code, _) = service.terminate();
    assert_eq!(code, Some(0), "an open stream does not hold up the stop");
}

/// A random stream of requests, good and bad: every answer is one, and none is an internal error.
#[test]
fn random_requests_never_crash_it() {
    let count: u64 = std::env::var("GEOWALK_REQUESTS").map_or(3_000, |text| text.parse().unwrap());
    let place = Place::new("serve-random");
    let mut service = start(
        &place,
        &["--model", BINARY, "--max-body", "100000", "--max-models", "8", "--snapshot-rows", "500"],
    );
    let mut client = service.client();
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let paths = [
        "predict",
        "learn",
        "feedback",
        "rollback",
        "shadow",
        "promote",
        "snapshot",
        "model",
        "certificate",
        "",
        "no",
    ];
    let kinds = [
        "application/json",
        "application/x-ndjson",
        "text/csv",
        "text/x-vw",
        "text/x-libsvm",
        "text/tab-separated-values",
        "application/vnd.apache.arrow.stream",
        "application/vnd.apache.parquet",
        "application/octet-stream",
        "",
    ];
    let mut seen = std::collections::BTreeMap::new();
    for k in 0..count {
        let name = ["m", "a", "b", "..", "%00", "m/"][usize::try_from(random(6)).unwrap()];
        let id = random(50);
        let path = match random(8) {
            0 => format!("/v2/models/{name}/infer"),
            1 => format!("/v1/models/{name}"),
            2 => [
                "/",
                "/metrics",
                "/v2",
                "/v1/models",
                "/%",
                "//",
                "/v1/models/m/predict?id=%zz&proba",
            ][usize::try_from(random(7)).unwrap()]
            .to_owned(),
            _ => {
                format!("/v1/models/{name}/{}?id={id}", paths[usize::try_from(random(11)).unwrap()])
            }
        };
        let mut body = match random(9) {
            0 => rows(k, 1 + random(20)),
            1 => r#"{"inputs":[{"name":"x","shape":[2,2],"data":[1,2,3,4]}]}"#.to_owned(),
            2 => r#"{"task":"multiclass","walk":"free"}"#.to_owned(),
            3 => format!("{{\"id\":\"{id}\",\"label\":\"yes\",\"sequence\":{}}}", random(200)),
            4 => "x,z,label\n1,2,yes\n3,4,no\n".to_owned(),
            5 => "1 |f a b:2\n-1 |g c\n".to_owned(),
            6 => "1 1:2 5:3\n".to_owned(),
            7 => {
                format!("[{{\"x\": {}}}, {{\"x\": null, \"deep\": {{\"y\": [1,2]}}}}]", random(100))
            }
            _ => String::new(),
        }
        .into_bytes();
        if random(3) == 0 && !body.is_empty() {
            for _ in 0..=random(4) {
                let at = usize::try_from(random(body.len() as u64)).unwrap();
                body[at] = u8::try_from(random(256)).unwrap();
            }
        }
        let method =
            ["POST", "POST", "POST", "GET", "DELETE", "PATCH"][usize::try_from(random(6)).unwrap()];
        let kind = kinds[usize::try_from(random(10)).unwrap()];
        if method == "GET" && path.contains("events") {
            continue;
        }
        match client.ask(method, &path, kind, &body) {
            Ok((status, answer)) => {
                let text = String::from_utf8_lossy(&answer).into_owned();
                assert!(
                    status < 500,
                    "{method} {path} {kind} {:?}: {status} {text}",
                    String::from_utf8_lossy(&body)
                );
                *seen.entry(status).or_insert(0_u64) += 1;
                if status >= 400 {
                    let problem: Value = serde_json::from_str(&text).unwrap();
                    assert!(!problem["remedy"].as_str().unwrap().is_empty());
                }
                if client.headers.iter().any(|line| line == "connection: close") {
                    client = service.client();
                }
            }
            Err(_) => client = service.client(),
        }
    }
    assert!(service.child.try_wait().unwrap().is_none(), "it is alive");
    assert!(
        seen.contains_key(&200) && seen.contains_key(&422) && seen.contains_key(&404),
        "{seen:?}"
    );
    println!("{count} requests: {seen:?}");
    let (code, _) = service.terminate();
    assert_eq!(code, Some(0));
}
