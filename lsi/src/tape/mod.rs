//! Tensors that remember how they were made, so that gradients can be pulled back through them.
//!
//! The rows of a Jacobian share one forward pass: a [`Tape`] keeps what each operation needs for its gradient, and
//! [`Var::pull_back`] may be called any number of times, once for each row. (burn's own autodiff gives its records away
//! in the first backward pass, so every further row would cost another forward pass.) Network weights are plain tensors:
//! nothing is recorded for them and nothing is differentiated.
//!
//! Operations are methods of [`Var`], a file for each kind. A `Var` made by [`Var::constant`] records nothing, so the same
//! network code evaluates without gradients at no extra cost.

mod arithmetic;
mod convolution;
mod functions;
mod matrix;
mod normalise;
mod pool;
mod shape;
mod style;

mod cpu;

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use burn_tensor::Tensor;

pub use arithmetic::sum_to;

/// The operations of one forward pass, in order.
///
/// Clones share their records. A tape stays on the thread that made it; parallel evaluations use a tape each.
#[derive(Clone, Default)]
pub struct Tape {
    steps: Rc<RefCell<Vec<Step>>>,
}

/// Takes the cotangent of its own slot and adds to those of the slots it was computed from.
type Step = Rc<dyn Fn(usize, &mut Cotangents)>;

impl Tape {
    /// An empty tape.
    pub fn new() -> Self {
        Self::default()
    }

    /// A tensor that gradients can be taken with respect to.
    pub fn input<const D: usize>(&self, value: Tensor<D>) -> Var<D> {
        self.record(value, |_, _| {})
    }

    fn record<const D: usize>(&self, value: Tensor<D>, step: impl Fn(usize, &mut Cotangents) + 'static) -> Var<D> {
        let mut steps = self.steps.borrow_mut();
        steps.push(Rc::new(step));
        Var { value, node: Some(Node { tape: self.clone(), slot: steps.len() - 1 }) }
    }

    /// Records an operation on the tensor of slot `parent`.
    fn record_map<const D: usize, const E: usize>(
        &self,
        value: Tensor<E>,
        parent: usize,
        pull: impl Fn(Tensor<E>) -> Tensor<D> + 'static,
    ) -> Var<E> {
        self.record(value, move |slot, cotangents| {
            if let Some(cotangent) = cotangents.take(slot) {
                cotangents.add(parent, pull(cotangent));
            }
        })
    }
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("n_steps", &self.steps.borrow().len()).finish()
    }
}

/// A tensor of rank `D` that knows its place on a tape, or a constant.
#[derive(Clone, Debug)]
pub struct Var<const D: usize> {
    value: Tensor<D>,
    node: Option<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    tape: Tape,
    slot: usize,
}

impl<const D: usize> Var<D> {
    /// A tensor that gradients never reach.
    pub fn constant(value: Tensor<D>) -> Self {
        Self { value, node: None }
    }

    /// The tensor.
    pub fn value(&self) -> &Tensor<D> {
        &self.value
    }

    /// The tensor, forgetting how it was made.
    pub fn into_value(self) -> Tensor<D> {
        self.value
    }

    /// Its shape.
    pub fn dims(&self) -> [usize; D] {
        self.value.dims()
    }

    /// The gradient of `sum(cotangent * self)` with respect to `input`: `J^T cotangent`, where J is the derivative of
    /// `self` by `input`. Zero when `self` does not depend on `input`.
    pub fn pull_back<const N: usize>(&self, cotangent: Tensor<D>, input: &Var<N>) -> Tensor<N> {
        let zero = || input.value.zeros_like();
        let (Some(from), Some(to)) = (&self.node, &input.node) else { return zero() };
        assert!(Rc::ptr_eq(&from.tape.steps, &to.tape.steps), "pull_back: output and input are on different tapes");
        let mut cotangents = Cotangents { slots: (0..=from.slot.max(to.slot)).map(|_| None).collect() };
        cotangents.add(from.slot, cotangent);
        // What was recorded before the input cannot depend on it.
        for slot in (to.slot + 1..=from.slot).rev() {
            if cotangents.slots[slot].is_some() {
                let step = Rc::clone(&from.tape.steps.borrow()[slot]);
                step(slot, &mut cotangents);
            }
        }
        cotangents.take(to.slot).unwrap_or_else(zero)
    }

    /// An operation on one tensor: `forward` computes it; when gradients are wanted, `pull` is given argument and result
    /// and makes the function from the result's cotangent to the argument's, keeping only what that needs.
    fn map<const E: usize, P>(
        self,
        forward: impl FnOnce(Tensor<D>) -> Tensor<E>,
        pull: impl FnOnce(Tensor<D>, &Tensor<E>) -> P,
    ) -> Var<E>
    where
        P: Fn(Tensor<E>) -> Tensor<D> + 'static,
    {
        let Some(Node { tape, slot: parent }) = self.node else { return Var::constant(forward(self.value)) };
        let value = forward(self.value.clone());
        let pull = pull(self.value, &value);
        tape.record_map(value, parent, pull)
    }

    /// [`map`](Self::map) for operations whose pull needs the result alone: `forward` may then write over the argument.
    fn map_over<const E: usize, P>(
        self,
        forward: impl FnOnce(Tensor<D>) -> Tensor<E>,
        pull: impl FnOnce(&Tensor<E>) -> P,
    ) -> Var<E>
    where
        P: Fn(Tensor<E>) -> Tensor<D> + 'static,
    {
        let value = forward(self.value);
        let Some(Node { tape, slot: parent }) = self.node else { return Var::constant(value) };
        let pull = pull(&value);
        tape.record_map(value, parent, pull)
    }

    /// An operation on two tensors, like [`map`](Self::map); the pulls of a constant are never made.
    fn zip<const E: usize, const F: usize, P, Q>(
        self,
        other: Var<E>,
        forward: impl FnOnce(Tensor<D>, Tensor<E>) -> Tensor<F>,
        pull: impl FnOnce(&Tensor<D>, &Tensor<E>) -> P,
        pull_other: impl FnOnce(&Tensor<D>, &Tensor<E>) -> Q,
    ) -> Var<F>
    where
        P: Fn(Tensor<F>) -> Tensor<D> + 'static,
        Q: Fn(Tensor<F>) -> Tensor<E> + 'static,
    {
        let Some(tape) = self.node.as_ref().or(other.node.as_ref()).map(|node| node.tape.clone()) else {
            return Var::constant(forward(self.value, other.value));
        };
        let first = self.node.map(|node| (node.slot, pull(&self.value, &other.value)));
        let second = other.node.map(|node| (node.slot, pull_other(&self.value, &other.value)));
        let value = forward(self.value, other.value);
        tape.record(value, move |slot, cotangents| {
            let Some(cotangent) = cotangents.take::<F>(slot) else { return };
            // The first tensor is usually the larger one: its pull comes last and may write over the cotangent.
            if let Some((parent, pull)) = &second {
                cotangents.add(*parent, pull(cotangent.clone()));
            }
            if let Some((parent, pull)) = &first {
                cotangents.add(*parent, pull(cotangent));
            }
        })
    }
}

/// The cotangents gathered so far in one backward pass, by slot.
struct Cotangents {
    slots: Vec<Option<Box<dyn Any>>>,
}

impl Cotangents {
    fn take<const D: usize>(&mut self, slot: usize) -> Option<Tensor<D>> {
        let cotangent = self.slots[slot].take()?;
        Some(*cotangent.downcast().expect("a slot's cotangent has the rank of its tensor"))
    }

    fn add<const D: usize>(&mut self, slot: usize, cotangent: Tensor<D>) {
        let sum = match self.take::<D>(slot) {
            Some(earlier) => earlier + cotangent,
            None => cotangent,
        };
        self.slots[slot] = Some(Box::new(sum));
    }
}

#[cfg(test)]
pub(crate) mod check;
