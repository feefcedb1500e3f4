// Rebuilds on changes and reports in the format that `.vscode/tasks.json` expects.
import { context } from 'esbuild';

/**
 * Builds everything now and again after each change, until the contexts are disposed of.
 * @param {readonly import('esbuild').BuildOptions[]} builds
 * @param {(line: string) => void} say
 * @returns {Promise<() => Promise<void>>} a function that ends this
 */
export async function watchBuilds(builds, say = console.log) {
  // The debugger starts after "finished", so it is printed only when no build is running, including
  // each one's first.
  const running = new Set(builds);
  say('[watch] build started');
  const tell = (options) => ({
    name: 'tell',
    setup({ onStart, onEnd }) {
      onStart(() => {
        if (running.size === 0) say('[watch] build started');
        running.add(options);
      });
      onEnd(({ errors, warnings }) => {
        for (const one of errors) say(problemLine('error', one));
        for (const one of warnings) say(problemLine('warning', one));
        running.delete(options);
        if (running.size === 0) say('[watch] build finished');
      });
    },
  });
  const contexts = await Promise.all(
    builds.map((options) =>
      context({ ...options, logLevel: 'silent', plugins: [...(options.plugins ?? []), tell(options)] }),
    ),
  );
  await Promise.all(contexts.map((one) => one.watch()));
  return async () => {
    await Promise.all(contexts.map((one) => one.dispose()));
  };
}

/** Formats a problem on one line. esbuild counts columns from 0, editors from 1. */
const problemLine = (severity, { text, location }) =>
  location ? `${location.file}:${location.line}:${location.column + 1}: ${severity}: ${text}` : `${severity}: ${text}`;
