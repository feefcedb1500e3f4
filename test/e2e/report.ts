/** Number of slowest tests that are listed. */
const SLOWEST = 10;

/**
 * Prints one line per test, and then exactly "N passed, N failed", with ", N skipped" if there are
 * any.
 */
export class Report {
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  readonly #times: (readonly [seconds: number, name: string])[] = [];

  add(name: string, seconds: number, error?: Error | string, reported: readonly string[] = []): void {
    if (error === undefined) this.#passed++;
    else this.#failed++;
    this.#times.push([seconds, name]);
    console.log(`${error === undefined ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)`);
    const text = error instanceof Error ? (error.stack ?? error.message) : error;
    for (const words of text === undefined ? reported : [...reported, text]) console.log(words.replace(/^/gm, '     '));
  }

  /** Runs a test, which may return a report. */
  async test(name: string, body: () => unknown): Promise<void> {
    const startTimeMs = Date.now();
    const seconds = (): number => (Date.now() - startTimeMs) / 1000;
    try {
      const reported = await body();
      this.add(name, seconds(), undefined, Array.isArray(reported) ? reported.map(String) : []);
    } catch (error) {
      this.add(name, seconds(), error instanceof Error ? error : String(error));
    }
  }

  /** Counts tests that can't run; the caller explains why. */
  skip(count: number): void {
    this.#skipped += count;
  }

  /** Prints the last line, and returns the exit code. In CI, skipped tests are a failure. */
  end(): number {
    const slowest = this.#times.toSorted(([a], [b]) => b - a).slice(0, SLOWEST);
    console.log(`slowest: ${slowest.map(([seconds, name]) => `${name} ${seconds.toFixed(1)} s`).join(', ')}`);
    const skipped = this.#skipped === 0 ? '' : `, ${this.#skipped} skipped`;
    console.log(`${this.#passed} passed, ${this.#failed} failed${skipped}`);
    const isWhole = this.#skipped === 0 || process.env['CI'] !== 'true';
    return this.#failed === 0 && this.#passed > 0 && isWhole ? 0 : 1;
  }
}
