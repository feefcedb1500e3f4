import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Loads programs of the extension host on first use. Each is a separate file, loaded in parts
 * (`scripts/bundleParts.mjs`).
 * @typeParam Programs what each program exports, by its name
 */
export class BundleLoader<Programs extends object> {
  private readonly require: NodeJS.Require;
  private readonly loaded = new Set<keyof Programs>();

  constructor(folder: string) {
    // VS Code checks who requires `vscode`, so this pretends to be the extension's own file.
    this.require = createRequire(join(folder, 'extension.cjs'));
  }

  /** Loads a program at once, which blocks the thread meanwhile. */
  loadBundleNow<Name extends keyof Programs & string>(name: Name): Programs[Name] {
    this.loaded.add(name);
    return this.require(`./${name}.cjs`) as Programs[Name];
  }

  /**
   * Loads each part in its own turn of the event loop, because all extensions of the window share
   * the thread.
   */
  async loadBundle<Name extends keyof Programs & string>(name: Name): Promise<Programs[Name]> {
    if (!this.loaded.has(name)) {
      const parts = this.require('./parts.json') as Readonly<Record<keyof Programs, readonly string[]>>;
      for (const part of parts[name]) {
        this.require(`./${part}`);
        await nextTurn();
      }
      this.loadBundleNow(name);
      await nextTurn();
    }
    return this.loadBundleNow(name);
  }
}
