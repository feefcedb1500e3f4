import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Programs of the extension host loaded on first use: separate files, split into parts
 * (`scripts/bundleParts.mjs`).
 * @typeParam Programs what each exports, by name
 */
export class Bundles<Programs extends object> {
  private readonly require: NodeJS.Require;
  private readonly loaded = new Set<keyof Programs>();

  /** @param folder of the bundles */
  constructor(folder: string) {
    // Pretend to be the extension's own file: VS Code checks who requires `vscode`.
    this.require = createRequire(join(folder, 'extension.cjs'));
  }

  /** Loads everything missing synchronously, for callers that can't wait. */
  loadNow<Name extends keyof Programs & string>(name: Name): Programs[Name] {
    this.loaded.add(name);
    // The build names files after their programs.
    return this.require(`./${name}.cjs`) as Programs[Name];
  }

  /**
   * Loads each part in a separate turn and resolves in another, because all extensions of the
   * window share the thread.
   */
  async load<Name extends keyof Programs & string>(name: Name): Promise<Programs[Name]> {
    if (!this.loaded.has(name)) {
      const parts = this.require('./parts.json') as Readonly<Record<keyof Programs, readonly string[]>>;
      for (const part of parts[name]) {
        this.require(`./${part}`);
        await nextTurn();
      }
      this.loadNow(name);
      await nextTurn();
    }
    return this.loadNow(name);
  }
}
