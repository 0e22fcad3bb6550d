import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack, Validations } from 'aws-cdk-lib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBundleStandIn } from '../rig/bundleStandIn.ts';
import { GIVEN_SETTINGS, STAGES } from '../rig/givenSettings.ts';
import { readTemplate, readTemplates } from '../rig/readTemplate.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { createGatewayApp, STACK_PARTS, type StackPart } from './createGatewayApp.ts';

interface Report {
  readonly pluginReports: readonly { readonly violations: readonly { readonly ruleName: string }[] }[];
}

describe('the app', () => {
  afterEach(() => vi.restoreAllMocks());

  it('breaks the rules that it acknowledges, and no others', () => {
    const acknowledged: { readonly id: string; readonly reason: string }[] = [];
    vi.spyOn(Validations.prototype, 'acknowledge').mockImplementation((...rules) => void acknowledged.push(...rules));
    using standIn = createBundleStandIn();
    const outputDirectory = standIn.outputDirectory('out');
    const settings = parseStageSettings(GIVEN_SETTINGS.prod);
    const error = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const app = createGatewayApp({
      settings,
      bundleDirectory: standIn.bundleDirectory,
      hookDirectory: standIn.hookDirectory,
      outputDirectory,
    });
    expect(() => app.synth()).toThrow();
    error.mockRestore();
    // As the construct library writes it.
    const report = JSON.parse(readFileSync(join(outputDirectory, 'validation-report.json'), 'utf8')) as Report;
    const broken = report.pluginReports.flatMap(({ violations }) => violations.map(({ ruleName }) => ruleName));
    expect([...new Set(broken)].sort()).toEqual([...new Set(acknowledged.map(({ id }) => id))].sort());
    for (const { reason } of acknowledged) expect(reason.length).toBeGreaterThan(60);
  });

  it.each(STAGES)('has stacks in %s that are protected in prod, and tells what one needs to know', (stage) => {
    const outputs = (part: StackPart) => Object.keys(readTemplate(stage, part).findOutputs('*'));
    expect(outputs('Data')).toEqual(expect.arrayContaining(['BucketName', 'AdminApiKeyArn']));
    expect(outputs('Service')).toEqual(expect.arrayContaining(['Url', 'ApiHost', 'FunctionName', 'AlarmTopicArn']));
    using standIn = createBundleStandIn();
    const settings = parseStageSettings(GIVEN_SETTINGS[stage]);
    const { bundleDirectory, hookDirectory } = standIn;
    const app = createGatewayApp({
      settings,
      bundleDirectory,
      hookDirectory,
      outputDirectory: standIn.outputDirectory('out'),
    });
    const parts = stage === 'prod' ? STACK_PARTS : (['Data', 'Service'] as const);
    expect(app.node.children.filter((child) => Stack.isStack(child))).toMatchObject(
      parts.map((part) => ({
        stackName: `prism-gateway-${stage}-${part.toLowerCase()}`,
        terminationProtection: stage === 'prod',
      })),
    );
    if (stage === 'prod') expect(outputs('Edge')).toEqual(expect.arrayContaining(['Url', 'DomainTarget']));
  });

  it('keeps in the stack of the data all that outlives the others, and nothing else there', () => {
    const lasting = Object.entries(readTemplates('prod')).map(([part, template]) => [
      part,
      [
        ...new Set(
          Object.values(template?.Resources ?? {}).flatMap(({ Type, DeletionPolicy = 'Delete' }) =>
            DeletionPolicy === 'Delete' ? [] : Type,
          ),
        ),
      ].sort(),
    ]);
    expect(Object.fromEntries(lasting)).toEqual({
      Data: ['AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::SecretsManager::Secret'],
      Service: [],
      Edge: [],
    });
  });
});
