//! A tree of questions, its root at the left: no other program has to draw it.

use crate::picture::{Anchor, Canvas, Picture, fitted};
use crate::text::At;

/// A box, and the space between boxes.
const BOX: (f64, f64) = (176.0, 46.0);
const GAP: (f64, f64) = (44.0, 10.0);

/// Boxes that are drawn at most.
const MOST: usize = 31;

/// One box of a [`TreePicture`].
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    /// The question, or the answer of a leaf.
    pub text: String,
    /// Who comes here, in a few words.
    pub note: String,
    /// A share that is drawn below the words, and the number of its colour.
    pub share: Option<(f64, usize)>,
    /// How much comes here: what is large is drawn first.
    pub mass: f64,
    /// The boxes of yes and no.
    pub children: Option<(usize, usize)>,
}

/// A tree under construction: its boxes, the root first.
///
/// ```
/// use geowalk_page::{Picture, TreeNode, TreePicture};
/// let leaf = |text: &str, mass| TreeNode { text: text.into(), note: String::new(), share: None, mass, children: None };
/// let root = TreeNode { children: Some((1, 2)), ..leaf("age ≤ 30", 10.0) };
/// let tree = TreePicture::new("Who pays", vec![root, leaf("bad", 4.0), leaf("good", 6.0)]);
/// assert!(Picture::from(tree).svg().contains("age ≤ 30"));
/// ```
#[derive(Debug, Clone)]
pub struct TreePicture {
    title: String,
    nodes: Vec<TreeNode>,
}

impl TreePicture {
    /// A tree of these boxes; the first is its root.
    pub fn new(title: impl Into<String>, nodes: Vec<TreeNode>) -> Self {
        Self { title: title.into(), nodes }
    }

    /// The boxes of a node that is opened: its children, if they are in the tree.
    fn below(&self, node: usize) -> Option<(usize, usize)> {
        let pair = self.nodes.get(node)?.children?;
        (pair.0.max(pair.1) < self.nodes.len() && pair.0.min(pair.1) > node).then_some(pair)
    }

    /// Which boxes show their children: those through which most goes, while there is room.
    fn opened(&self) -> Vec<bool> {
        let mut opened = vec![false; self.nodes.len()];
        let mut edge: Vec<usize> = if self.nodes.is_empty() { Vec::new() } else { vec![0] };
        let mut drawn = 1;
        while drawn + 2 <= MOST {
            let closed = edge.iter().copied().filter(|node| self.below(*node).is_some());
            let heavier = |a: &usize, b: &usize| {
                self.nodes[*a].mass.total_cmp(&self.nodes[*b].mass).then(b.cmp(a))
            };
            let Some(node) = closed.max_by(heavier) else { break };
            opened[node] = true;
            drawn += 2;
            edge.retain(|own| *own != node);
            edge.extend(self.below(node).map(|pair| [pair.0, pair.1]).into_iter().flatten());
        }
        opened
    }

    /// How many leaves are below a box.
    fn leaves(&self, node: usize) -> usize {
        let mut left = vec![node];
        let mut count = 0;
        while let Some(node) = left.pop() {
            match self.below(node) {
                Some(pair) => left.extend([pair.0, pair.1]),
                None => count += 1,
            }
        }
        count
    }
}

/// Where things are drawn.
struct Drawing<'a> {
    tree: &'a TreePicture,
    opened: Vec<bool>,
    canvas: Canvas,
    /// The next free height, and the widest end.
    free: f64,
    right: f64,
    hidden: usize,
}

impl Drawing<'_> {
    /// Draws a box and what is below it; its middle.
    fn draw(&mut self, node: usize, depth: usize) -> f64 {
        let x = 2.0 + depth as f64 * (BOX.0 + GAP.0);
        self.right = self.right.max(x + BOX.0);
        let own = &self.tree.nodes[node];
        let pair = self.tree.below(node).filter(|_| self.opened[node]);
        let middle = if let Some((yes, no)) = pair {
            let ends = [self.draw(yes, depth + 1), self.draw(no, depth + 1)];
            let middle = f64::midpoint(ends[0], ends[1]);
            for (end, word) in ends.iter().zip(["yes", "no"]) {
                let (from, to) = (x + BOX.0, x + BOX.0 + GAP.0);
                let turn = from + 12.0;
                let line =
                    format!("M{} {}H{}V{}H{}", At(from), At(middle), At(turn), At(*end), At(to));
                self.canvas.path("axis", &line);
                self.canvas.text("small", Anchor::End, to - 3.0, end - 4.0, word);
            }
            middle
        } else {
            let middle = self.free + BOX.1 / 2.0;
            self.free += BOX.1 + GAP.1;
            middle
        };
        let top = middle - BOX.1 / 2.0;
        self.canvas.rect("box", x, top, BOX.0, BOX.1);
        let more = if pair.is_none() && self.tree.below(node).is_some() {
            self.hidden += 1;
            format!("{} leaves below; ", self.tree.leaves(node))
        } else {
            String::new()
        };
        self.canvas.text("", Anchor::Start, x + 7.0, top + 17.0, &fitted(&own.text, BOX.0 - 18.0));
        let note = fitted(&format!("{more}{}", own.note), BOX.0 - 10.0);
        self.canvas.text("small", Anchor::Start, x + 7.0, top + 33.0, &note);
        if let Some((share, series)) = own.share {
            let width = (BOX.0 - 14.0) * share.clamp(0.0, 1.0);
            let class = format!("bar fill s{}", series % crate::theme::SERIES);
            self.canvas.rect(&class, x + 7.0, top + 39.0, width, 4.0);
        }
        self.canvas.hint(
            x + BOX.0 / 2.0,
            middle,
            BOX.1 / 2.0,
            &format!("{}; {}", own.text, own.note),
        );
        middle
    }
}

impl From<TreePicture> for Picture {
    fn from(tree: TreePicture) -> Self {
        if tree.nodes.is_empty() {
            let mut canvas = Canvas::default();
            canvas.text("", Anchor::Start, 4.0, 20.0, "no data");
            return Self::new(&tree.title, "Tree; no data.".to_owned(), 30.0, canvas.body);
        }
        let canvas = Canvas::default();
        let opened = tree.opened();
        let mut own = Drawing { tree: &tree, opened, canvas, free: 4.0, right: 0.0, hidden: 0 };
        own.draw(0, 0);
        let notes = match own.hidden {
            0 => Vec::new(),
            1 => vec!["one branch is cut; the whole tree is below as text".to_owned()],
            many => vec![format!("{many} branches are cut; the whole tree is below as text")],
        };
        let height = own.canvas.notes(own.free, &notes) + 6.0;
        let words =
            format!("Tree of {} leaves; first question: {}.", tree.leaves(0), tree.nodes[0].text);
        let width = own.right + 2.0;
        Self::new(&tree.title, words, height, own.canvas.body).of_width(width)
    }
}
