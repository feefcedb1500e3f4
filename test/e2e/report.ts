/** One line per test, and at the end exactly "N passed, N failed", and ", N skipped" where any was. */
export class Report {
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  add(name: string, seconds: number, error?: Error | string, reported: readonly string[] = []): void {
    if (error === undefined) this.#passed++;
    else this.#failed++;
    console.log(`${error === undefined ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)`);
    const text = error instanceof Error ? (error.stack ?? error.message) : error;
    for (const words of text === undefined ? reported : [...reported, text]) console.log(words.replace(/^/gm, '     '));
  }

  /**
   * Runs a test, which may give what it has to tell.
   * @param tries how often at most. That another one was needed is said with the reason: it hides a defect, of the test at least.
   */
  async test(name: string, body: () => unknown, tries = 1): Promise<void> {
    const begun = Date.now();
    const seconds = (): number => (Date.now() - begun) / 1000;
    for (let left = tries - 1; ; left--) {
      try {
        const reported = await body();
        this.add(name, seconds(), undefined, Array.isArray(reported) ? reported.map(String) : []);
        return;
      } catch (error) {
        if (left <= 0) {
          this.add(name, seconds(), error instanceof Error ? error : String(error));
          return;
        }
        console.log(`AGAIN ${name} (${seconds().toFixed(1)} s)`);
        console.log(String(error instanceof Error ? error.stack : error).replace(/^/gm, '     '));
      }
    }
  }

  /** Counts tests that could not run; whoever calls it has said why. */
  skip(count: number): void {
    this.#skipped += count;
  }

  /** The last line, and the exit code: in CI nothing may be skipped. */
  end(): number {
    const skipped = this.#skipped === 0 ? '' : `, ${this.#skipped} skipped`;
    console.log(`${this.#passed} passed, ${this.#failed} failed${skipped}`);
    const isWhole = this.#skipped === 0 || process.env['CI'] !== 'true';
    return this.#failed === 0 && this.#passed > 0 && isWhole ? 0 : 1;
  }
}
