/**
 * The queue port. It carries wake-ups only ("lane L has work"); PostgreSQL is the truth, so a lost wake-up
 * costs at most the relay's poll interval and never a message.
 */
export interface Queue {
  readonly name: 'in-process' | 'bullmq' | 'ipc';
  /** Says that `lane` has work. Coalesced; never throws, never waits. `ALL_LANES` stands for every lane. */
  wake(lane: string): void;
  /** Registers a listener; each wake-up reaches every listener of this process. */
  onWake(handler: WakeHandler): void;
  health(): Promise<QueueHealth>;
  /** Idempotent. After it `wake` does nothing. */
  close(): Promise<void>;
}

export type WakeHandler = (lane: string) => void;

export interface QueueHealth {
  ok: boolean;
  detail?: string;
}

/** The lane that means "look at every lane"; what pending wake-ups collapse into past their bound. */
export const ALL_LANES = '';
