import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CfnResource, Stack, Validations } from 'aws-cdk-lib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBundleStandIn } from '../rig/bundleStandIn.ts';
import { EXAMPLE_SETTINGS, STAGES, type Variant } from '../rig/exampleSettings.ts';
import { readTemplate, readTemplates } from '../rig/readTemplate.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { createGatewayApp, STACK_PARTS, type StackPart } from './createGatewayApp.ts';

interface Report {
  readonly pluginReports: readonly { readonly violations: readonly { readonly ruleName: string }[] }[];
}

const hasCfnLint = spawnSync('cfn-lint', ['--version']).status === 0;

describe('the app', () => {
  afterEach(() => vi.restoreAllMocks());

  it('breaks the rules that it acknowledges, and no others', () => {
    const acknowledged: { readonly id: string; readonly reason: string }[] = [];
    vi.spyOn(Validations.prototype, 'acknowledge').mockImplementation((...rules) => void acknowledged.push(...rules));
    using standIn = createBundleStandIn();
    const outputDirectory = standIn.outputDirectory('out');
    const settings = parseStageSettings(EXAMPLE_SETTINGS.prod);
    const error = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const app = createGatewayApp({
      settings,
      bundleDirectory: standIn.bundleDirectory,
      hookDirectory: standIn.hookDirectory,
      webhooksDirectory: standIn.webhooksDirectory,
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
    expect(outputs('Service')).toEqual(expect.arrayContaining(['Url', 'Host', 'FunctionName', 'AlarmTopicArn']));
    using standIn = createBundleStandIn();
    const settings = parseStageSettings(EXAMPLE_SETTINGS[stage]);
    const { bundleDirectory, hookDirectory, webhooksDirectory } = standIn;
    const app = createGatewayApp({
      settings,
      bundleDirectory,
      hookDirectory,
      webhooksDirectory,
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

  it('is not synthesised with what CloudFormation would refuse', () => {
    using standIn = createBundleStandIn();
    const { bundleDirectory, hookDirectory, webhooksDirectory } = standIn;
    const outputDirectory = standIn.outputDirectory('out');
    const settings = parseStageSettings(EXAMPLE_SETTINGS.dev);
    const app = createGatewayApp({ settings, bundleDirectory, hookDirectory, webhooksDirectory, outputDirectory });
    // The function's own resource.
    const target = app.node.findChild('Service').node.findChild('Function').node.defaultChild as CfnResource;
    target.addPropertyOverride('MemorySize', 'much');
    target.addPropertyOverride('Timeout', 901);
    target.addPropertyOverride('FunctionName', 'a b');
    target.addPropertyOverride('Role', { 'Fn::GetAtt': ['Nobody', 'Arn'] });
    target.addPropertyDeletionOverride('Code');
    new CfnResource(target.stack, 'Odd', { type: 'AWS::Lambda::Funktion' });
    const error = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(() => app.synth()).toThrow();
    error.mockRestore();
    const report = readFileSync(join(outputDirectory, 'validation-report.json'), 'utf8');
    for (const reported of [
      "MemorySize: 'much' is not of type 'integer'",
      'Timeout: 901 exceeds maximum 900',
      "FunctionName: 'a b' does not match",
      "non-existent resource 'Nobody'",
      "'Code' is a required property",
      "Unknown resource type 'AWS::Lambda::Funktion'",
    ])
      expect(report).toContain(reported);
  });

  // A second opinion, of a linter in Python. The first one is always asked, by the synthesis itself.
  it.skipIf(!hasCfnLint)('has no error to cfn-lint (skipped where it is not installed)', async () => {
    using standIn = createBundleStandIn();
    const files = Object.keys(EXAMPLE_SETTINGS).flatMap((variant) =>
      // Its own keys.
      Object.entries(readTemplates(variant as Variant)).map(([part, template]) => {
        const file = standIn.outputDirectory(`${variant}-${part}.template.json`);
        writeFileSync(file, JSON.stringify(template));
        return file;
      }),
    );
    expect(files.length).toBeGreaterThan(STAGES.length);
    const { stdout } = await promisify(execFile)('cfn-lint', ['--non-zero-exit-code', 'error', ...files]);
    expect(stdout).not.toMatch(/^E/m);
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
      // What an alias can go back to in seconds; they go with their function.
      Service: ['AWS::Lambda::Version'],
      Edge: [],
    });
  });
});
