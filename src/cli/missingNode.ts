/**
 * Says what the running Node.js lacks; undefined if it lacks nothing.
 * @param runningVersion such as "20.20.2"
 * @param neededRange from package.json's `engines`, such as ">=22.13"
 */
export function describeMissingNode(runningVersion: string, neededRange: string): string | undefined {
  const [major, minor] = parseMajorAndMinor(runningVersion);
  const [neededMajor, neededMinor] = parseMajorAndMinor(neededRange);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return undefined;
  return `context-condenser needs Node.js ${neededMajor}.${neededMinor} or later, and this is Node.js ${runningVersion}.`;
}

function parseMajorAndMinor(version: string): [number, number] {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return [Number(major), Number(minor)];
}
