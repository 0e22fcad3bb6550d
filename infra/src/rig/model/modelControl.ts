import type { StackControl } from '../../deploy/stackControl.ts';
import { EDGE_REGION, type StageSettings } from '../../settings/stageSettings.ts';
import { type StackPart, stackNameOf } from '../../stack/createGatewayApp.ts';
import type { readTemplates } from '../readTemplate.ts';
import type { CloudFormationModel } from './cloudFormation.ts';

interface ControlOptions {
  readonly stage: Pick<StageSettings, 'stage' | 'region'> & { readonly isProtected: boolean };
  readonly templates: ReturnType<typeof readTemplates>;
}

/**
 * Drives the model as the CDK's command drives CloudFormation: a change set is made, the stack's protection is set as the app has
 * it, before anything is known to succeed, and the change set is run.
 */
export function createModelControl(model: CloudFormationModel, { stage, templates }: ControlOptions): StackControl {
  const nameOf = (part: StackPart) => stackNameOf(stage.stage, part);
  return {
    async describe(part) {
      return model.describe(nameOf(part));
    },
    async unprotect(part) {
      model.setProtection(nameOf(part), false);
    },
    async delete(part) {
      model.delete(nameOf(part));
    },
    async continueRollback(part) {
      model.continueRollback(nameOf(part));
    },
    async deploy(part, parameters) {
      const template = templates[part];
      if (template === undefined) throw new Error(`There is no template of ${part}`);
      const region = part === 'Edge' ? EDGE_REGION : (stage.region ?? 'eu-central-1');
      const changeSet = { name: nameOf(part), region, template, parameters, importsExisting: part === 'Data' };
      model.review(changeSet);
      model.setProtection(changeSet.name, stage.isProtected);
      return model.execute(changeSet);
    },
  };
}
