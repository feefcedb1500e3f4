/** One line per test, and at the end exactly "N passed, N failed". */
export class Report {
  #passed = 0;
  #failed = 0;

  add(name: string, seconds: number, error?: Error | string): void {
    if (error === undefined) this.#passed++;
    else this.#failed++;
    console.log(`${error === undefined ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)`);
    if (error === undefined) return;
    const text = error instanceof Error ? (error.stack ?? error.message) : error;
    console.log(text.replace(/^/gm, '     '));
  }

  async test(name: string, body: () => Promise<void> | void): Promise<void> {
    const begun = Date.now();
    let failure: Error | string | undefined;
    try {
      await body();
    } catch (error) {
      failure = error instanceof Error ? error : new Error('failed', { cause: error });
    }
    this.add(name, (Date.now() - begun) / 1000, failure);
  }

  /** The last line, and the exit code. */
  end(): number {
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
    return this.#failed === 0 && this.#passed > 0 ? 0 : 1;
  }
}
