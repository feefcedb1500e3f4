import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * The programs of the extension host that are loaded when they are first used: files beside its own, cut into parts
 * (`scripts/bundleParts.mjs`).
 * @typeParam Programs what each exports, by its name
 */
export class Bundles<Programs extends object> {
  private readonly require: NodeJS.Require;
  private readonly loaded = new Set<keyof Programs>();

  /** @param folder of the bundles */
  constructor(folder: string) {
    // As the extension's own file: VS Code looks at who asks for `vscode`.
    this.require = createRequire(join(folder, 'extension.cjs'));
  }

  /** Loads what is not loaded yet at one stretch, where nobody can wait. */
  now<Name extends keyof Programs & string>(name: Name): Programs[Name] {
    this.loaded.add(name);
    // The build names the files for their programs.
    return this.require(`./${name}.cjs`) as Programs[Name];
  }

  /** Loads each part in a turn of its own, and gives it in another one: the thread belongs to all extensions of the window. */
  async load<Name extends keyof Programs & string>(name: Name): Promise<Programs[Name]> {
    if (!this.loaded.has(name)) {
      const parts = this.require('./parts.json') as Readonly<Record<keyof Programs, readonly string[]>>;
      for (const part of parts[name]) {
        this.require(`./${part}`);
        await nextTurn();
      }
      this.now(name);
      await nextTurn();
    }
    return this.now(name);
  }
}
