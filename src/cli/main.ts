#!/usr/bin/env node
/**
 * The command line's entry point. A Node that is too old must be able to parse this bundle and run this file, so that it can say so:
 * nothing is imported but what works everywhere, and esbuild.mjs lowers the syntax.
 */
import { engines } from '../../package.json';
import { EXIT } from './io';
import { missingNode } from './missingNode';

const problem = missingNode(process.versions.node, engines.node);
if (problem === undefined) {
  void import('./start').then(({ start }) => start());
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = EXIT.failed;
}
