/**
 * Coverage by V8, as vitest has it, but what several projects ran of a file is added up before it is told line by line: vitest would take
 * each file apart once for each project, which is most of what coverage costs.
 */
import { readFile } from 'node:fs/promises';
import type { Profiler } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import v8 from '@vitest/coverage-v8';
import type { BaseCoverageProvider, CoverageProviderModule, TestProject } from 'vitest/node';

interface Ran extends Profiler.ScriptCoverage {
  readonly startOffset: number;
}

/** Of what vitest's provider hands over to read what was covered, the parts that are used. */
interface Reader<Coverage> {
  readonly onFileRead: (coverage: Coverage) => void;
  readonly onFinished: (project: TestProject, environment: string) => Promise<void>;
}

/** A project, and the environment in which it ran. */
interface Place {
  readonly project: TestProject;
  readonly environment: string;
  readonly result: Ran[];
}

const module: CoverageProviderModule = {
  ...v8,
  async takeCoverage(options) {
    const taken = (await v8.takeCoverage?.(options)) as { result: Ran[] };
    return { result: taken.result.filter(({ url }) => !/\.test\.tsx?$|\/testing\.tsx?$|\/test\//.test(url)) };
  },
  async getProvider() {
    const provider = (await v8.getProvider()) as unknown as BaseCoverageProvider;
    provider.readCoverageFiles = (reader) => readAll(provider, reader);
    return provider as never;
  },
};
export default module;

async function readAll<Coverage>(
  provider: BaseCoverageProvider,
  { onFileRead, onFinished }: Reader<Coverage>,
): Promise<void> {
  await Promise.all(provider.pendingPromises);
  provider.pendingPromises = [];
  /** By a file's code as it ran: the first place that ran it stands for all. */
  const first = new Map<string, Place>();
  const places: Place[] = [];
  for (const [name, byEnvironment] of provider.coverageFiles) {
    // Its type says that a name may be a symbol.
    const project = provider.ctx.getProjectByName(String(name));
    for (const [environment, byTests] of Object.entries(byEnvironment)) {
      const place: Place = { project, environment, result: [] };
      places.push(place);
      for (const file of Object.values(byTests)) {
        const { result } = JSON.parse(await readFile(file, 'utf8')) as { result: Ran[] };
        for (const ran of result) {
          const path = fileURLToPath(ran.url);
          if (!provider.isIncluded(path)) continue;
          const transformed = await project.vite.environments[environment]?.transformRequest(path);
          const key = `${ran.startOffset} ${ran.url} ${transformed?.code}`;
          const stands = first.get(key) ?? place;
          first.set(key, stands);
          stands.result.push(ran);
        }
      }
    }
  }
  for (const { project, environment, result } of places) {
    // What V8's provider reads is what V8's workers took.
    onFileRead({ result } as Coverage);
    await onFinished(project, environment);
  }
}
