/** Longest stretch without giving the thread back, in milliseconds: the extension host is shared with everybody. */
const STRETCH_MS = 15;

/** When the thread was last given back, by whom ever: parts that follow each other hold it together. */
let since = performance.now();

/** Lets long mechanical work breathe: gives the thread back now and then, and hears a cancel. */
export class Pace {
  constructor(private readonly signal?: AbortSignal) {}

  /** Whether a stretch is over: loops that do little each time ask this, for to wait costs more than what they do. */
  get isDue(): boolean {
    return performance.now() - since >= STRETCH_MS;
  }

  /**
   * Call often; it does something only once a stretch is over.
   * @throws the signal's reason where it was aborted.
   */
  async breathe(): Promise<void> {
    if (this.isDue) await this.giveBack();
  }

  /**
   * Gives the thread back at once, for what ran before took its time.
   * @throws the signal's reason where it was aborted.
   */
  async giveBack(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.signal?.throwIfAborted();
    since = performance.now();
  }
}
