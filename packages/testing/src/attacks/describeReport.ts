import type { AttackReport } from './runAttacks.ts';

const BYTES_A_MEGABYTE = 1_000_000;
const megabytes = (bytes: number) => `${Math.round(bytes / BYTES_A_MEGABYTE)} MB`;
const milliseconds = (ms: number) => `${Math.round(ms)} ms`;

function describeAnswers(answers: ReadonlyMap<number, number>): string {
  const counts = [...answers].sort(([a], [b]) => a - b).map(([status, times]) => `${times} × ${status}`);
  return counts.length === 0 ? 'none read' : counts.join(', ');
}

/** Writes what came of an attack for a person. @returns lines */
export function describeReport({ attacks, honest, memory }: AttackReport): readonly string[] {
  return [
    ...attacks.map(
      ({ name, state: { tried, open, sentBytes, answers } }) =>
        `${name}: ${tried} connections tried, ${open} still open, ${megabytes(sentBytes)} sent, answers: ${describeAnswers(answers)}`,
    ),
    `honest client: ${honest.calls} calls, ${honest.failures} failed; p50 ${milliseconds(honest.p50)}, p99 ${milliseconds(honest.p99)}, longest ${milliseconds(honest.max)}`,
    ...(memory === undefined
      ? []
      : [
          `memory: ${megabytes(memory.before)} before, ${megabytes(memory.peak)} at most, ${megabytes(memory.after)} after`,
        ]),
  ];
}
