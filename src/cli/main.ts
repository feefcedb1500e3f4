#!/usr/bin/env node
/**
 * Entry point of the command line. Old versions of Node must be able to run this file to report
 * that they are too old, so it imports little, and esbuild.mjs lowers its syntax.
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
