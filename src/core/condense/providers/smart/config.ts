/**
 * Unknown fields are allowed, except in filters and conditions, where ignoring a field would remove
 * more than was requested.
 */
import * as z from 'zod';
import { OPERATIONS } from '../../edits/operations';
import { isRecord } from '../../../messages/blocks';
import { validateConfig, validateFields } from '../../config';
import type { ConfigProblem, ValidationResult } from '../../types';
import type { FieldPath } from '../../wrongFields';
import { losslessConfigSchema } from '../../lossless/run';
import type { ContentOperation } from './operationSchema';
import { passSchema, getOperations, protectionSchema, type BatchPass, type Pass } from './passSchema';

const percentSchema = z.number().min(0).max(100);

const oldBlocksSchema = z.looseObject({
  operation: z.enum(['keep', 'suppress']).default('keep'),
  keepRecent: z.int().min(0).max(1_000_000).default(10).describe('Number of newest messages that keep theirs.'),
});

export const SMART_CONFIG_VERSION = 1;

export const smartConfigSchema = z
  .looseObject({
    version: z.literal(SMART_CONFIG_VERSION).default(SMART_CONFIG_VERSION),
    losslessPrelude: z
      .looseObject({
        enabled: z.boolean().default(true),
        operations: losslessConfigSchema.loose().prefault({}).describe('Settings of the Lossless provider.'),
      })
      .prefault({})
      .describe('Runs Lossless first; it costs nothing and loses nothing.'),
    passes: z.array(passSchema).max(50).default([]).describe('Passes, run in this order until the target is met.'),
    protect: protectionSchema
      .extend({
        userMessages: z
          .boolean()
          .default(true)
          .describe(
            'What people wrote is never shortened by a pass that works on single messages, and follows word for word after a summary of several.',
          ),
      })
      .prefault({})
      .describe(
        'What every pass leaves alone; the task, pinned messages and the last to-do list are always left alone.',
      ),
    thinking: oldBlocksSchema.prefault({}).describe('What happens to the model’s old thinking.'),
    images: oldBlocksSchema.prefault({}).describe('What happens to old images.'),
    parallelCalls: z.int().min(1).max(16).default(4).describe('Number of parallel calls to a model.'),
    coherenceFloor: z
      .looseObject({
        files: percentSchema.optional(),
        errors: percentSchema.optional(),
        instructions: percentSchema.optional(),
        todos: percentSchema.optional(),
      })
      .default({})
      .describe('Percentage of each that must remain in the view; a pass that falls below it is dropped.'),
  })
  .superRefine(({ passes }, context) => {
    const seenIds = new Set<string>();
    passes.forEach(({ id }, index) => {
      if (seenIds.has(id))
        context.addIssue({
          code: 'custom',
          path: ['passes', index, 'id'],
          message: describeDuplicatePassId(id),
        });
      seenIds.add(id);
    });
  });

export type SmartConfig = z.output<typeof smartConfigSchema>;
/** A configuration as written; absent fields take their defaults. */
export type SmartConfigInput = z.input<typeof smartConfigSchema>;

/**
 * A wrong pass is left out together with all later passes that call a model, because these would
 * have more to do than configured. Nothing is usable if it is unclear which passes there are or
 * what they must not change.
 */
export function validateSmartConfig(config: unknown): ValidationResult<SmartConfig> {
  const result = validateFields(smartConfigSchema, config, undefined, getRemovableField);
  if (result.valid || !isRecord(config) || !Array.isArray(config['passes'])) return result;
  const { passes, problems, leftOut } = validatePasses(config['passes']);
  if (problems.length === 0) return result;
  const usableConfig = { ...config, passes };
  const usableFields = validateFields(smartConfigSchema, usableConfig, undefined, getRemovableField);
  const allProblems = [...problems, ...(usableFields.valid ? [] : usableFields.problems)];
  const usableRest = usableFields.valid ? { config: usableFields.config, written: usableConfig } : usableFields.rest;
  return {
    valid: false,
    problems: allProblems,
    ...(usableRest && passes.length > 0 && { rest: { ...usableRest, leftOut } }),
  };
}

function getRemovableField(path: FieldPath): FieldPath | undefined {
  const [field = ''] = path;
  return ['passes', 'protect', 'version'].includes(String(field)) ? undefined : path;
}

interface ValidatedPasses {
  readonly passes: unknown[];
  readonly problems: ConfigProblem[];
  /** Valid passes that must not run without the wrong ones. */
  readonly leftOut: ConfigProblem[];
}

function validatePasses(passes: readonly unknown[]): ValidatedPasses {
  const validatedPasses: ValidatedPasses = { passes: [], problems: [], leftOut: [] };
  const seenIds = new Set<string>();
  for (const [place, entry] of passes.entries()) {
    const path = `passes.${place}`;
    const result = validateConfig(passSchema, entry);
    if (!result.valid) {
      const passProblems = result.problems.map((problem) => ({ ...problem, path: `${path}.${problem.path}` }));
      validatedPasses.problems.push(
        ...passProblems.map((problem) => ({ ...problem, path: problem.path.replace(/\.$/, '') })),
      );
    } else if (seenIds.has(result.config.id)) {
      validatedPasses.problems.push({ path: `${path}.id`, message: describeDuplicatePassId(result.config.id) });
    } else if (validatedPasses.problems.length > 0 && passCallsModel(result.config)) {
      validatedPasses.leftOut.push({
        path,
        message: 'calls a model, and would have more to do without the pass before it',
      });
    } else {
      seenIds.add(result.config.id);
      validatedPasses.passes.push(entry);
    }
  }
  return validatedPasses;
}

const describeDuplicatePassId = (id: string): string => `"${id}" is the id of an earlier pass`;

const passCallsModel = (pass: Pass): boolean =>
  listOperations(pass).some(({ operation }) => OPERATIONS[operation].callsModel);

const listOperations = (pass: Pass): readonly (BatchPass['batchConfig'] | ContentOperation)[] =>
  pass.mode === 'batch' ? [pass.batchConfig] : getOperations(pass);

const getModelOperations = ({ passes }: SmartConfig) =>
  passes
    .filter(({ enabled }) => enabled)
    .flatMap(listOperations)
    .filter(({ operation }) => OPERATIONS[operation].callsModel);

export const smartCallsModel = (config: SmartConfig): boolean => getModelOperations(config).length > 0;

export interface RequestedModel {
  /** Undefined for the condensing profile. */
  readonly apiProfile: string | undefined;
  /** Empty for the built-in prompt. */
  readonly prompt: string;
}

export const listRequestedModels = (config: SmartConfig): readonly RequestedModel[] =>
  getModelOperations(config).map((operation) =>
    operation.operation === 'summarize'
      ? { apiProfile: operation.apiProfile, prompt: operation.customPrompt }
      : { apiProfile: undefined, prompt: '' },
  );
