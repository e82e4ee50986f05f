//! How a call ends: the detection timeout and the longest session.

use super::Call;
use crate::event::{Event, EventKind};
use crate::verdict::Evidence;

/// Longest session, on the further of media time and wall since the first audio (supplement 10: 300 s of audio).
const SESSION_MAX_MS: f64 = 300_000.0;

impl Call {
    /// Deadlines that the audio has reached: exact to the hop, whatever the chunks.
    pub(super) fn check_media_deadlines(&mut self) {
        if self.timeline.media_elapsed_ms() >= self.timeout_ms {
            self.end_verdicts();
        }
        if self.timeline.position_ms() >= SESSION_MAX_MS {
            self.end_session();
        }
    }

    /// Deadlines that the wall has reached.
    pub(crate) fn check_deadlines(&mut self) {
        if self.over {
            return;
        }
        if self.timeline.elapsed_ms() >= self.timeout_ms {
            self.end_verdicts();
        }
        if self.timeline.session_ms() >= SESSION_MAX_MS {
            self.end_session();
        }
    }

    fn end_verdicts(&mut self) {
        if self.timed_out || self.verdicts.closed() {
            return;
        }
        self.timed_out = true;
        if !self.rule(Evidence::Timeout) {
            let timestamp_ms = self.timeline.position_ms();
            self.events.push_back(Event {
                timestamp_ms,
                kind: EventKind::Timeout,
            });
        }
    }

    fn end_session(&mut self) {
        if self.over {
            return;
        }
        self.end_verdicts();
        self.over = true;
        self.events.push_back(Event {
            timestamp_ms: self.timeline.position_ms(),
            kind: EventKind::Ended,
        });
    }

    /// Wall time at which the next deadline falls if no audio comes.
    pub(crate) fn next_deadline_ms(&self) -> f64 {
        if self.over {
            return f64::INFINITY;
        }
        let session_ms = self.timeline.session_deadline_ms(SESSION_MAX_MS);
        if self.timed_out || self.verdicts.closed() {
            return session_ms;
        }
        self.timeline
            .clock_deadline_ms(self.timeout_ms)
            .min(session_ms)
    }
}
