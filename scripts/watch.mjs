// Rebuilds on changes and reports in the format that `.vscode/tasks.json` expects.
import { context } from 'esbuild';

/**
 * Builds everything now and again after each change, until the contexts are disposed of.
 * @param {readonly import('esbuild').BuildOptions[]} builds
 * @param {(line: string) => void} say
 * @returns {Promise<() => Promise<void>>} a function that ends this
 */
export async function watchBuilds(builds, say = console.log) {
  // VS Code starts the debugger after "finished", so print it only if every build has run at least
  // once and none is running.
  const runningBuilds = new Set(builds);
  say('[watch] build started');
  const createReportPlugin = (options) => ({
    name: 'tell',
    setup({ onStart, onEnd }) {
      onStart(() => {
        if (runningBuilds.size === 0) say('[watch] build started');
        runningBuilds.add(options);
      });
      onEnd(({ errors, warnings }) => {
        for (const error of errors) say(formatProblem('error', error));
        for (const warning of warnings) say(formatProblem('warning', warning));
        runningBuilds.delete(options);
        if (runningBuilds.size === 0) say('[watch] build finished');
      });
    },
  });
  const contexts = await Promise.all(
    builds.map((options) =>
      context({ ...options, logLevel: 'silent', plugins: [...(options.plugins ?? []), createReportPlugin(options)] }),
    ),
  );
  await Promise.all(contexts.map((built) => built.watch()));
  return async () => {
    await Promise.all(contexts.map((built) => built.dispose()));
  };
}

/** Formats a problem on one line. esbuild counts columns from 0, editors from 1. */
const formatProblem = (severity, { text, location }) =>
  location ? `${location.file}:${location.line}:${location.column + 1}: ${severity}: ${text}` : `${severity}: ${text}`;
