/** The models that the extension offers: profiles, and models that VS Code already has. */
import type * as vscode from 'vscode';
import { findKnownModel, type PriceTable } from '../api/prices';
import { DEFAULT_MAX_OUTPUT_TOKENS } from '../api/types';
import { computeContextWindow } from '../api/vscodeLm';
import type { ModelPrices } from '../core/cost/prices';
import { ASSUMED_WINDOW_TOKENS } from '../core/vendors/families';
import { getModelOfProfile } from '../settings/profileModel';
import type { ApiProfile } from '../settings/profiles';

export interface WrappedModel {
  readonly vendor: string;
  readonly id: string;
  readonly name: string;
  readonly family: string;
  readonly maxInputTokens: number;
}

export interface OfferedModel {
  readonly id: string;
  readonly name: string;
  /** Profile with which the model is called; synthesized for a model of VS Code. */
  readonly profile: ApiProfile;
  readonly wrappedModel?: WrappedModel;
  /** Input and output together, in tokens. */
  readonly contextWindow: number;
  /** False if the window is unknown and {@link ASSUMED_WINDOW_TOKENS} is used. */
  readonly isWindowKnown: boolean;
  /** Model tokens per o200k token, estimated before calibration. */
  readonly tokenFactor: number;
  /** Whether the model accepts images. Undefined: unknown until it rejects one. */
  readonly seesImages?: boolean;
  /** Maximum tokens of an answer, if known. */
  readonly maxOutputTokens?: number;
  readonly prices?: ModelPrices;
}

export function offerProfile(profile: ApiProfile, table: PriceTable): OfferedModel {
  const { contextWindow, tokenFactor, maxOutputTokens, seesImages, prices } = getModelOfProfile(profile, table);
  return {
    id: profile.id,
    name: profile.name,
    profile,
    contextWindow: contextWindow ?? ASSUMED_WINDOW_TOKENS,
    isWindowKnown: contextWindow !== undefined,
    tokenFactor,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(seesImages !== undefined && { seesImages }),
    ...(prices && { prices }),
  };
}

export function offerWrappedModel(wrapped: WrappedModel, table: PriceTable): OfferedModel {
  const contextWindow = computeContextWindow(wrapped);
  const { prices, seesImages, tokenFactor } = findKnownModel(table, { vendor: 'vscode', model: wrapped.family });
  return {
    ...(seesImages !== undefined && { seesImages }),
    id: `${wrapped.vendor}:${wrapped.id}`,
    name: wrapped.name,
    profile: { id: 'wrapped', name: wrapped.name, vendor: 'vscode', model: wrapped.id },
    wrappedModel: wrapped,
    ...(prices && { prices }),
    contextWindow: contextWindow ?? ASSUMED_WINDOW_TOKENS,
    isWindowKnown: contextWindow !== undefined,
    tokenFactor,
  };
}

export interface AgentSettings {
  /**
   * Whether conversations are condensed automatically. If not, messages are forwarded unchanged, so
   * that VS Code's summarizer works.
   */
  readonly automatic: boolean;
  /** Window in tokens that is declared to VS Code; 0 means the model's own. */
  readonly declaredWindow: number;
}

/** Fields that the typings lack. */
export interface ModelInformation extends vscode.LanguageModelChatInformation {
  /** VS Code 1.120 and later omit models without it from the picker. */
  readonly isUserSelectable: true;
  /**
   * The window that the chat's ring shows and chat sessions record (1.139); its agent summarizes by
   * `maxInputTokens`.
   */
  readonly maxContextWindowTokens: number;
}

export function toModelInformation(
  model: OfferedModel,
  { automatic, declaredWindow }: AgentSettings,
  displayTexts: { readonly suffix: string; readonly detail: string; readonly tooltip: string },
): ModelInformation {
  const maxOutputTokens = model.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS;
  const window = automatic ? Math.max(declaredWindow, model.contextWindow) : model.contextWindow;
  return {
    id: model.id,
    name: `${model.name} · ${displayTexts.suffix}`,
    // The family decides which prompt and tools VS Code's agent uses.
    family: model.wrappedModel?.family ?? model.profile.model,
    version: model.profile.model,
    detail: displayTexts.detail,
    tooltip: displayTexts.tooltip,
    maxInputTokens: Math.max(Math.ceil(window / 2), window - maxOutputTokens),
    maxOutputTokens,
    maxContextWindowTokens: model.contextWindow,
    capabilities: { imageInput: model.seesImages !== false, toolCalling: true },
    isUserSelectable: true,
  };
}
