//! Whose turn it is among classes of one level and priority (htb_lookup_leaf): a row of those that can send themselves, and below
//! each of them those that borrow from it.

use super::{Class, LEVELS, Mode, PRIORITIES};

/// For each row and each class with children, the place in the list of classes from which on the next one is looked for.
#[derive(Debug)]
pub(super) struct Turns {
    rows: [[usize; PRIORITIES]; LEVELS],
    below: Vec<[usize; PRIORITIES]>,
}

impl Turns {
    pub(super) fn new(classes: usize) -> Turns {
        Turns { rows: [[0; PRIORITIES]; LEVELS], below: vec![[0; PRIORITIES]; classes] }
    }

    fn next_mut(&mut self, lender: Option<usize>, level: usize, priority: usize) -> &mut usize {
        match lender {
            Some(class) => &mut self.below[class][priority],
            None => &mut self.rows[level][priority],
        }
    }

    /// The turn of a leaf is over, in the row or below the class that it is a child of.
    pub(super) fn pass_on(&mut self, lender: Option<usize>, level: usize, priority: usize, leaf: usize) {
        *self.next_mut(lender, level, priority) = leaf + 1;
    }

    /// The leaf whose turn it is. Who has come to the end of a list begins it again, and the turn passes on in the list above.
    pub(super) fn leaf(&mut self, classes: &[Class], level: usize, priority: usize) -> Option<usize> {
        let in_row = |class: &Class| class.level == level && class.mode == Mode::CanSend;
        let waits = |class: &Class| class.active & 1 << priority != 0;
        if !classes.iter().any(|class| in_row(class) && waits(class)) {
            return None;
        }
        // The lists from the row down; each but the first is that of a class.
        let mut lists: Vec<Option<usize>> = vec![None];
        loop {
            let list = *lists.last().expect("the row stays");
            let is_member = |class: &Class| match list {
                None => in_row(class),
                Some(lender) => class.parent == Some(lender) && class.mode == Mode::MayBorrow,
            };
            let from = *self.next_mut(list, level, priority);
            match (from..classes.len()).find(|index| is_member(&classes[*index]) && waits(&classes[*index])) {
                Some(found) => {
                    *self.next_mut(list, level, priority) = found;
                    if classes[found].leaf.is_some() {
                        return Some(found);
                    }
                    lists.push(Some(found));
                }
                None => {
                    *self.next_mut(list, level, priority) = 0;
                    if let Some(lender) = list {
                        lists.pop();
                        let above = *lists.last().expect("the row stays");
                        *self.next_mut(above, level, priority) = lender + 1;
                    }
                }
            }
        }
    }
}
