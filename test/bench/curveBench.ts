/** Measures how time and memory grow for generated conversations of 50K to 2M tokens. */
import { generateConversation } from '../generators/conversation';
import { CANDIDATES, measureMemory, measureTime, warmUp, type Measurement, type MemoryMeasurement } from './measure';
import { megabytes, millis, percent, table } from './table';

export interface CurvePoint extends Measurement, MemoryMeasurement {
  readonly provider: string;
  readonly targetTokens: number;
}

const SIZES = [50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000];
const SEED = 42;

export async function benchCurve(sizes: readonly number[] = SIZES): Promise<CurvePoint[]> {
  const points: CurvePoint[] = [];
  await warmUp(generateConversation({ seed: SEED, targetTokens: 100_000 }));
  for (const targetTokens of sizes) {
    const generate = (): ReturnType<typeof generateConversation> => generateConversation({ seed: SEED, targetTokens });
    for (const candidate of CANDIDATES) {
      const time = await measureTime(generate(), candidate);
      const memory = await measureMemory(
        () => JSON.parse(JSON.stringify(generate())) as ReturnType<typeof generate>,
        candidate,
      );
      points.push({ provider: candidate.name, targetTokens, ...time, ...memory });
    }
  }
  return points;
}

export function curveTable(points: readonly CurvePoint[]): string {
  const perToken = ({ cpuMs, tokensBefore }: CurvePoint): number => cpuMs / tokensBefore;
  return table(
    [
      'provider',
      'tokens',
      'reduction',
      'time',
      'processor',
      'per 1K tokens',
      'against the smallest',
      'messages',
      'peak beyond them',
    ],
    CANDIDATES.flatMap(({ name }) => {
      const providerPoints = points.filter(({ provider }) => provider === name);
      return providerPoints.map((point) => [
        name,
        point.tokensBefore,
        percent(1 - point.tokensAfter / point.tokensBefore),
        millis(point.timeMs),
        millis(point.cpuMs),
        `${(perToken(point) * 1e6).toFixed(0)} µs`,
        `${(perToken(point) / perToken(providerPoints[0] ?? point)).toFixed(2)} ×`,
        megabytes(point.messages),
        `${megabytes(point.peak)} (${(point.peak / point.messages).toFixed(2)} ×)`,
      ]);
    }),
  );
}
