/** Lanes remembered as having work; beyond it the poll finds them. */
const READY_LANES_MAX = 10_000;
/** Lanes whose floor is remembered; beyond it the longest unused is forgotten, which costs one longer scan. */
const FLOORS_MAX = 10_000;

/** Lanes of one topic in turn, and how far the dead rows of each reach. */
export class LaneRotation {
  readonly #ready = new Set<string>();
  readonly #floors = new Map<string, number>();

  get size(): number {
    return this.#ready.size;
  }

  markReady(lane: string): void {
    if (this.#ready.size < READY_LANES_MAX) this.#ready.add(lane);
  }

  /** Takes up to `max` lanes from the front that `accepts` takes; the others keep their place. */
  take(max: number, accepts: (lane: string) => boolean): string[] {
    const taken: string[] = [];
    for (const lane of this.#ready) {
      if (taken.length >= max) break;
      if (accepts(lane)) taken.push(lane);
    }
    for (const lane of taken) this.#ready.delete(lane);
    return taken;
  }

  /** No live row of the lane was older than this when last looked; 0: unknown. */
  floorMs(lane: string): number {
    const floorMs = this.#floors.get(lane) ?? 0;
    this.#floors.delete(lane);
    this.#floors.set(lane, floorMs);
    if (this.#floors.size > FLOORS_MAX) this.#floors.delete(this.#floors.keys().next().value as string);
    return floorMs;
  }

  /** Floors of the lanes claimed since they were last dropped. */
  floors(max: number): [string, number][] {
    return [...this.#floors].slice(-max);
  }

  raiseFloor(lane: string, floorMs: number): void {
    if (this.#floors.has(lane)) this.#floors.set(lane, floorMs);
  }

  dropFloors(): void {
    this.#floors.clear();
  }
}
