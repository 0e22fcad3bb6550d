import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBundleStandIn } from '../rig/bundleStandIn.ts';
import { GIVEN_SETTINGS, STAGES } from '../rig/givenSettings.ts';
import { readTemplate } from '../rig/readTemplate.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { createGatewayApp } from './createGatewayApp.ts';

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
    const app = createGatewayApp({ settings, bundleDirectory: standIn.bundleDirectory, outputDirectory });
    expect(() => app.synth()).toThrow();
    error.mockRestore();
    // As the construct library writes it.
    const report = JSON.parse(readFileSync(join(outputDirectory, 'validation-report.json'), 'utf8')) as Report;
    const broken = report.pluginReports.flatMap(({ violations }) => violations.map(({ ruleName }) => ruleName));
    expect([...new Set(broken)].sort()).toEqual([...new Set(acknowledged.map(({ id }) => id))].sort());
    for (const { reason } of acknowledged) expect(reason.length).toBeGreaterThan(60);
  });

  it.each(STAGES)('has a stack in %s that is protected in prod, and tells what one needs to know', (stage) => {
    const template = readTemplate(stage);
    const outputs = Object.keys(template.findOutputs('*'));
    expect(outputs).toEqual(
      expect.arrayContaining(['Url', 'FunctionName', 'BucketName', 'AdminApiKeyArn', 'AlarmTopicArn']),
    );
    using standIn = createBundleStandIn();
    const settings = parseStageSettings(GIVEN_SETTINGS[stage]);
    const { bundleDirectory } = standIn;
    const app = createGatewayApp({ settings, bundleDirectory, outputDirectory: standIn.outputDirectory('out') });
    expect(app.node.findChild('Gateway')).toMatchObject({
      stackName: `prism-gateway-${stage}`,
      terminationProtection: stage === 'prod',
    });
  });
});
