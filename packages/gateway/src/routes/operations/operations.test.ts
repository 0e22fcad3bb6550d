import { createFakeClock } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { createMetrics } from '../../drivers/prometheus/createMetrics.ts';
import { operationsRoutes } from './operations.ts';

const { now } = createFakeClock();
const routesWith = (checkReady: () => Promise<void>, publicMetrics = true) => {
  const metrics = createMetrics({ readStats: async () => ({}) }, now);
  return operationsRoutes({ checkReady, now, metrics }, { publicMetrics });
};
const answerOf = (routes: ReturnType<typeof routesWith>, path: string) =>
  routes.find((route) => route.path === path)?.answer({}, new Headers());

// Shows OPERATE-5.
test('/ready waits a second for the stores, and no longer', async () => {
  expect(
    await answerOf(
      routesWith(async () => undefined),
      '/ready',
    ),
  ).toMatchObject({ status: 200 });
  const never = () => new Promise<void>(() => undefined);
  await expect(answerOf(routesWith(never), '/ready')).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
});

test('metrics are a route only where they are public', () => {
  const pathsOf = (publicMetrics: boolean) => routesWith(async () => undefined, publicMetrics).map(({ path }) => path);
  expect(pathsOf(true)).toEqual(['/health', '/ready', '/metrics']);
  expect(pathsOf(false)).toEqual(['/health', '/ready']);
});
