import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findOnly, findResources } from '../rig/readTemplate.ts';

const paper = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
const written = (count: unknown) => Number(count).toLocaleString('en-US');

/** What the synthesised prod stacks allow at once. */
function readCeilings() {
  const { DefaultRouteSettings } = findOnly('prod', 'AWS::ApiGatewayV2::Stage').Properties;
  // CloudFormation's own form.
  const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } = DefaultRouteSettings as Record<string, number>;
  const instances = findOnly('prod', 'AWS::Lambda::Function', 'Function').Properties.ReservedConcurrentExecutions;
  const [table] = Object.values(findResources('prod', 'AWS::DynamoDB::Table'));
  const { MaxWriteRequestUnits: units } = (table?.Properties.OnDemandThroughput ?? {}) as Record<string, number>;
  return { rate: written(rate), burst: written(burst), instances: written(instances), units: written(units) };
}

it('docs/scaling.md states the limits of the stacks, in the order to raise them and in what breaks first', () => {
  const { rate, burst, instances, units } = readCeilings();
  expect(paper).toContain(`API Gateway lets through ${rate} calls a second, ${burst} at once`);
  expect(paper).toContain(`${instances} instances answer one call at a time`);
  expect(paper).toContain(`the table and each index take ${units} units a second`);
  expect(paper).toContain(`API Gateway lets ${rate} calls a second through (\`THROTTLE_RATE\`, \`THROTTLE_BURST\`)`);
  expect(paper).toContain(`${instances} instances (\`RESERVED_CONCURRENCY\`)`);
  expect(paper).toContain(`take ${units} write units a second (\`MAX_TABLE_WRITE_UNITS\`)`);
});
