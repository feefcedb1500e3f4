#!/usr/bin/env node
/**
 * This file must run on versions of Node.js that are too old, to report that. So it imports little,
 * and esbuild.mjs lowers its syntax.
 */
import { engines } from '../../package.json';
import { EXIT_CODE } from './io';
import { describeMissingNode } from './missingNode';

const nodeProblem = describeMissingNode(process.versions.node, engines.node);
if (nodeProblem === undefined) {
  void import('./start').then(({ startCommandLine }) => startCommandLine());
} else {
  process.stderr.write(`${nodeProblem}\n`);
  process.exitCode = EXIT_CODE.failed;
}
