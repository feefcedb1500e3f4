import type { Random } from '../random';
import { toTranscript } from '../transcript';
import { sampleSession } from './scenario';

export const sampleTranscript = (random: Random): string =>
  toTranscript(sampleSession(random).messages, random, {
    cwd: '/home/dev/quicknotes',
    gitBranch: 'main',
    version: '2.1.37',
    model: 'claude-sonnet-4-5-20250929',
    start: new Date('2026-01-12T09:02:11.000Z'),
  });
