import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { createGatewayApp, STACK_PARTS } from '../stack/createGatewayApp.ts';
import { createBundleStandIn } from './bundleStandIn.ts';
import { EXAMPLE_SETTINGS, type Variant } from './exampleSettings.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The synthesised templates, as JSON text of one object by parts. */
    templates: Readonly<Record<Variant, string>>;
  }
}

/** Synthesises each variant once for all tests: it takes some seconds each. That it succeeds says that cdk-nag is content. */
export function setup(project: TestProject): () => void {
  const standIn = createBundleStandIn();
  const { bundleDirectory, hookDirectory, webhooksDirectory } = standIn;
  const synthesize = (variant: Variant): string => {
    const outputDirectory = standIn.outputDirectory(variant);
    const settings = parseStageSettings(EXAMPLE_SETTINGS[variant]);
    createGatewayApp({ settings, bundleDirectory, hookDirectory, webhooksDirectory, outputDirectory }).synth();
    const parts = STACK_PARTS.flatMap((part) => {
      const file = join(outputDirectory, `${part}.template.json`);
      return existsSync(file) ? [[part, JSON.parse(readFileSync(file, 'utf8'))] as const] : [];
    });
    return JSON.stringify(Object.fromEntries(parts));
  };
  project.provide('templates', { dev: synthesize('dev'), prod: synthesize('prod'), other: synthesize('other') });
  return () => standIn[Symbol.dispose]();
}
