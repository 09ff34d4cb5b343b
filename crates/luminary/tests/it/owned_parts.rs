//! Callers who keep archives and emitters themselves write the engine's checkpoints too, and others go on with them.

use luminary::checkpoint::attachment_of;
use luminary::error::CheckpointError;
use luminary::preset::Preset;
use luminary::scheduler::{AddMode, Order, OwnedParts, Parts, Precision, Scheduler, Values};
use luminary_domains::LinearProjection;

use crate::common::{preset_config, run, scenarios, state};

const ATTACHMENT: &[u8] = b"what only its author understands";

/// What the owner of a scheduler's parts saves.
fn saved(parts: &mut OwnedParts, attachment: Option<&[u8]>) -> Vec<u8> {
    let OwnedParts { config, archive, result, emitters, protocol, .. } = parts;
    let parts = Parts { archive: archive.as_mut(), result: result.as_deref_mut(), emitters };
    protocol.to_checkpoint(config, &parts, attachment).unwrap()
}

#[test]
fn parts_are_saved_as_the_scheduler_that_they_make() {
    for scenario in scenarios() {
        let mut scheduler = scenario.config.build().unwrap();
        run(&mut scheduler, scenario.problem.as_ref(), 3);
        let expected = state(&scheduler);
        let checkpoint = saved(&mut scheduler.into_parts(), Some(ATTACHMENT));
        assert_eq!(attachment_of(&checkpoint).unwrap().as_deref(), Some(ATTACHMENT), "{}", scenario.name);
        let restored = Scheduler::from_checkpoint(&checkpoint).unwrap();
        assert_eq!(restored.attachment(), Some(ATTACHMENT));
        assert!(state(&restored) == checkpoint, "{}: it carries the attachment along", scenario.name);
        let bare = saved(&mut restored.into_parts(), None);
        assert!(bare == expected && attachment_of(&bare).unwrap().is_none(), "{}", scenario.name);
    }
}

#[test]
fn a_soft_archive_may_be_alone_and_rows_may_be_added_one_by_one_and_rounded() {
    let problem = LinearProjection::sphere(6).unwrap();
    let mut parts = preset_config(Preset::CmaMae, &problem, 1).build().unwrap().into_parts();
    assert!(parts.result.take().is_some());
    parts.protocol.set_add_mode(AddMode::OneByOne);
    parts.protocol.set_precision(Precision::Single);
    let mut restored = Scheduler::from_checkpoint(&saved(&mut parts, None)).unwrap();
    let OwnedParts { archive, emitters, protocol, .. } = &mut parts;
    for _ in 0..5 {
        let mut parts = Parts { archive: archive.as_mut(), result: None, emitters };
        protocol.ask(&mut parts).unwrap();
        let solutions = restored.ask().unwrap().to_vec();
        assert_eq!(protocol.asked_solutions(), solutions);
        assert!(solutions.iter().all(|&component| component == f64::from(component as f32)));
        let objectives: Vec<f64> =
            solutions.chunks_exact(6).map(|row| -row.iter().map(|x| x * x).sum::<f64>()).collect();
        let measures: Vec<f64> = solutions.chunks_exact(6).flat_map(|row| [row[0], row[1]]).collect();
        let values = Values::new(&objectives, &measures);
        protocol.tell(&mut parts, &values, luminary::archive::NonFinite::Fail, &mut ()).unwrap();
        restored.tell_values(&values).unwrap();
    }
    assert_eq!(restored.result().stats(), restored.archive().stats());
    assert!(state(&restored) == saved(&mut parts, None));
}

#[test]
fn tickets_are_rounded_in_either_order() {
    let problem = LinearProjection::sphere(6).unwrap();
    for order in [Order::Rows, Order::COMPLETION] {
        for preset in [Preset::CmaMae, Preset::CmaMaega, Preset::MapElites] {
            let mut config = preset_config(preset, &problem, 1).config();
            config.order = order;
            let mut parts = config.build().unwrap().into_parts();
            parts.protocol.set_precision(Precision::Single);
            let mut restored = Scheduler::from_checkpoint(&saved(&mut parts, None)).unwrap();
            let tickets = restored.ask_tickets(5);
            let mut components = tickets.iter().flat_map(|ticket| &ticket.solution);
            assert!(components.all(|&component| component == f64::from(component as f32)), "{preset} {order:?}");
        }
    }
}

#[test]
fn files_that_only_python_reads_say_so() {
    let error = Scheduler::from_checkpoint(b"LUMIPY01 and so on").unwrap_err();
    assert!(matches!(error, CheckpointError::PythonParts), "{error}");
    assert!(error.to_string().contains("saved by Python with parts written in Python"));
}
