//! Pages and pictures are well-formed, escape what they are given, and hide nothing.

use geowalk_page::{
    Bars, Cell, Mark, Page, Picture, Plot, SpherePath, Table, TreeNode, TreePicture, TrianglePath,
};

/// Fails unless `text` is well-formed: tags nest, attributes are quoted and occur once, entities are known, text has no stray markup.
fn well_formed(text: &str) {
    let body = text.strip_prefix("<!doctype html>\n").unwrap_or(text);
    let mut open: Vec<&str> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let mut rest = body;
    let mut elements = 0;
    while let Some(start) = rest.find('<') {
        entities(&rest[..start]);
        assert!(!rest[..start].contains('>'), "stray > in {:?}", &rest[..start]);
        let end = start + rest[start..].find('>').expect("an open tag");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in the wrong order");
            continue;
        }
        elements += 1;
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let name = tag.split_whitespace().next().expect("a name");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "<{name}>");
        let mut attributes = tag[name.len()..].trim();
        let mut seen: Vec<&str> = Vec::new();
        while !attributes.is_empty() {
            let (key, value) = attributes.split_once("=\"").expect("a quoted value");
            let (value, after) = value.split_once('"').expect("its end");
            assert!(
                key.chars()
                    .all(|c| c.is_ascii_alphabetic() || c == '-' || c == 'x' || c.is_ascii_digit()),
                "{key}"
            );
            assert!(!seen.contains(&key), "{key} twice in <{tag}>");
            entities(value);
            if key == "id" {
                assert!(!ids.contains(&value.to_owned()), "id {value} twice");
                ids.push(value.to_owned());
            }
            if key == "d" {
                assert!(
                    value.starts_with('M') && !value.contains("NaN") && !value.contains("inf"),
                    "{value}"
                );
            }
            seen.push(key);
            attributes = after.trim();
        }
        if name == "style" {
            let end = rest.find("</style>").expect("the end of the style");
            assert!(!rest[..end].contains('<'));
            rest = &rest[end + "</style>".len()..];
        } else if !closed {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "left open: {open:?}, left over: {rest:?}");
    assert!(elements > 2, "the checker saw only {elements} elements");
}

fn entities(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(
            known.iter().any(|e| text[at..].starts_with(e)),
            "unknown entity at {:?}",
            &text[at..]
        );
    }
}

const EVIL: &str = "<script>alert(\"x\") & 'y'</script>\u{1b}";

fn everything(name: &str) -> Vec<Picture> {
    let curve = |scale: f64| (1..60).map(move |t| (f64::from(t), scale / f64::from(t)));
    vec![
        Plot::new(name)
            .x(name)
            .y(name)
            .log_x()
            .log_y()
            .bound(name, curve(9.0))
            .line(name, curve(1.0))
            .dashed(name, curve(2.0))
            .into(),
        Plot::new(name)
            .steps(name, curve(1.0))
            .dots(name, curve(3.0))
            .band(name, curve(1.0).map(|(x, y)| (x, y, 2.0 * y)))
            .into(),
        Plot::new(name)
            .bars(name, (0..9).map(|i| (f64::from(i), f64::from(i + 1), f64::from(i * i))))
            .into(),
        Bars::new(name).bar(name, 1.0).bar("b", -2.0).bar("c", f64::NAN).into(),
        SpherePath::new(name)
            .path(name, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, -0.2, 0.3]])
            .point(name, [0.0, 0.0, -3.0])
            .into(),
        TrianglePath::new(name, [name; 3])
            .path(name, [[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
            .point(name, [0.0, 0.0, 1.0])
            .into(),
        Plot::new(name).rings(name, curve(2.0)).into(),
        tree(name, 3).into(),
        tree(name, 8).into(),
    ]
}

/// A tree of 2^depth leaves.
fn tree(name: &str, depth: u32) -> TreePicture {
    let inner = (1_usize << depth) - 1;
    let node = |at: usize| TreeNode {
        text: name.to_owned(),
        note: format!("{at} rows, {name}"),
        share: (!at.is_multiple_of(3)).then_some((0.25, at)),
        mass: 1.0 / (at as f64 + 1.0),
        children: (at < inner).then_some((2 * at + 1, 2 * at + 2)),
    };
    TreePicture::new(name, (0..=2 * inner).map(node).collect())
}

fn page(name: &str) -> String {
    let mut page = Page::new(name)
        .contents()
        .section(name)
        .heading(name)
        .prose(name)
        .code(name)
        .facts([(name, name)]);
    for picture in everything(name) {
        page = page.figure(picture);
    }
    let table = Table::new([name, "n"])
        .stacked()
        .caption(name)
        .row([name.into(), 1.5.into()])
        .row([Cell::Verdict(Mark::Bad, name.into()), Cell::Figures(name.into())])
        .row([Cell::Section(name.into(), 1)]);
    page.table(table)
        .lead(name, name)
        .tiles([(name, name), ("rows", "7")])
        .folded(name)
        .prose(name)
        .section("empty")
        .table(Table::new(["nothing"]))
        .folded("last")
        .figure(Plot::new(name))
        .html()
}

#[test]
fn pages_and_pictures_are_well_formed() {
    for name in ["plain", EVIL] {
        well_formed(&page(name));
        for picture in everything(name) {
            well_formed(&picture.svg());
        }
    }
}

#[test]
fn the_checker_can_fail() {
    for bad in [
        "<a><b></a></b><c/>",
        "<a x=1/><b/><c/>",
        "<a/><b/><c>&nbsp;</c>",
        "<a/><b/><c>",
        "<a/><b/><path d=\"MNaN 1\"/>",
    ] {
        assert!(std::panic::catch_unwind(|| well_formed(bad)).is_err(), "{bad}");
    }
}

#[test]
fn names_are_escaped_everywhere() {
    let html = page(EVIL);
    assert!(!html.contains("<script"));
    assert!(html.matches("&lt;script&gt;").count() > 20);
    assert!(!html.contains('\u{1b}'));
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let html = page("plain");
    for outside in ["http://", "https://", "src=", "<link", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("prefers-color-scheme:dark") && html.contains("width=device-width"));
}

#[test]
fn the_same_data_give_the_same_text() {
    assert_eq!(page("a"), page("a"));
}

#[test]
fn what_cannot_be_drawn_is_counted() {
    let points =
        [(1.0, 1.0), (2.0, f64::NAN), (3.0, f64::INFINITY), (4.0, 0.0), (5.0, -1.0), (6.0, 2.0)];
    let svg = Picture::from(Plot::new("p").log_y().line("loss", points)).svg();
    assert!(svg.contains("loss: not drawn: 2 not finite, 2 not positive of 6"), "{svg}");
    // The line is interrupted: two pieces of one point each.
    let drawn = svg.lines().find(|l| l.contains("class=\"line s0\"")).expect("the line");
    assert_eq!(drawn.matches('M').count(), 2, "{drawn}");
    let linear = Picture::from(Plot::new("p").line("loss", points)).svg();
    assert!(linear.contains("loss: not drawn: 2 not finite of 6"));
    let sphere = Picture::from(
        SpherePath::new("s").path("walk", [[0.0; 3], [f64::NAN, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    )
    .svg();
    assert!(sphere.contains("walk: not drawn: 2 of 3 without a direction"));
    let triangle = Picture::from(
        TrianglePath::new("t", ["a", "b", "c"]).path("walk", [[0.5, 0.5, 0.5], [0.2, 0.3, 0.5]]),
    )
    .svg();
    assert!(triangle.contains("walk: not drawn: 1 of 2 that are no probabilities"));
    let bars = Picture::from(Bars::new("b").bar("x", f64::NAN).bar("y", 1.0)).svg();
    assert!(bars.contains("1 not finite: no bar") && bars.contains(">NaN<"));
}

#[test]
fn pictures_without_data_say_so() {
    let nothing: [(f64, f64); 0] = [];
    let pictures: [Picture; 6] = [
        TreePicture::new("t", Vec::new()).into(),
        Plot::new("p").into(),
        Plot::new("p").line("a", nothing).into(),
        Bars::new("b").into(),
        SpherePath::new("s").into(),
        TrianglePath::new("t", ["a", "b", "c"]).into(),
    ];
    for picture in pictures {
        assert!(picture.svg().contains(">no data<"), "{}", picture.title());
        well_formed(&picture.svg());
    }
}

#[test]
fn large_trees_are_cut_where_little_goes() {
    let small = Picture::from(tree("t", 3)).svg();
    assert_eq!(small.matches("class=\"box\"").count(), 15);
    assert!(!small.contains("cut"));
    let large = Picture::from(tree("t", 8));
    assert_eq!(large.svg().matches("class=\"box\"").count(), 31);
    assert!(large.svg().contains("branches are cut"), "{}", large.svg());
    assert!(large.description().contains("256 leaves"));
    // Boxes that lead back are not followed.
    let again = TreeNode { children: Some((0, 0)), ..node_of("a") };
    well_formed(&Picture::from(TreePicture::new("t", vec![again])).svg());
}

fn node_of(text: &str) -> TreeNode {
    let (text, note) = (text.to_owned(), String::new());
    TreeNode { text, note, share: None, mass: 1.0, children: None }
}

#[test]
fn values_are_shown_where_the_pointer_rests() {
    let plot = Plot::new("p").x("row").line("loss", (0..500).map(|i| (f64::from(i), 0.5)));
    let svg = Picture::from(plot).svg();
    assert!(svg.contains("<title>loss, row 499: 0.5</title>"), "{svg}");
    assert!(svg.matches("class=\"hint\"").count() <= 50);
}

#[test]
fn the_far_side_of_the_sphere_is_dashed() {
    let side = |p: [f64; 3]| {
        Picture::from(SpherePath::new("s").eye([1.0, 0.0, 0.0]).path("w", [p, [p[0], 0.6, 0.8]]))
            .svg()
    };
    let (front, back) = (side([1.0, 0.0, 0.0]), side([-1.0, 0.0, 0.0]));
    assert!(front.contains("class=\"line s0\" d") && !front.contains("class=\"line s0 far\" d"));
    assert!(back.contains("class=\"line s0 far\" d"));
    // A great circle through both poles is half seen, half not, and meets itself at the edge.
    let round = (0..=8).map(|i| match i % 4 {
        0 => [1.0, 0.0, 0.0],
        1 => [0.0, 1.0, 0.0],
        2 => [-1.0, 0.0, 0.0],
        _ => [0.0, -1.0, 0.0],
    });
    let round = Picture::from(SpherePath::new("s").eye([1.0, 0.0, 0.0]).path("w", round)).svg();
    assert!(round.contains("class=\"line s0\" d") && round.contains("class=\"line s0 far\" d"));
}

#[test]
fn long_lines_are_thinned_but_keep_their_extremes() {
    let points =
        (0..200_000).map(|i| (f64::from(i), if i == 123_456 { 1000.0 } else { f64::from(i % 7) }));
    let svg = Picture::from(Plot::new("p").line("a", points)).svg();
    assert!(svg.len() < 60_000, "{} bytes", svg.len());
    // The highest point stands where the axis ends but for the air: 24 + 210·(1 − 1/1.04).
    let line = svg.lines().find(|l| l.contains("class=\"line s0\"")).expect("the line");
    assert!(line.contains(" 32.08"), "the peak is lost");
}
