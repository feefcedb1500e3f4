function print(verdict: string, name: string, seconds: number, error?: Error | string): void {
  console.log(`${verdict} ${name} (${seconds.toFixed(1)} s)`);
  if (error === undefined) return;
  const text = error instanceof Error ? (error.stack ?? error.message) : error;
  console.log(text.replace(/^/gm, '     '));
}

/** One line per test, and at the end exactly "N passed, N failed", and ", N skipped" where any was. */
export class Report {
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  add(name: string, seconds: number, error?: Error | string): void {
    if (error === undefined) this.#passed++;
    else this.#failed++;
    print(error === undefined ? 'ok  ' : 'FAIL', name, seconds, error);
  }

  /** Runs a test; one that fails is run again `retries` times, and each failure is printed, also where it passes then. */
  async test(name: string, body: () => Promise<void> | void, retries = 0): Promise<void> {
    const begun = Date.now();
    let failure: Error | undefined;
    try {
      await body();
    } catch (error) {
      failure = error instanceof Error ? error : new Error('failed', { cause: error });
    }
    const seconds = (Date.now() - begun) / 1000;
    if (failure === undefined || retries === 0) {
      this.add(name, seconds, failure);
      return;
    }
    print('AGAIN', name, seconds, failure);
    await this.test(name, body, retries - 1);
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
