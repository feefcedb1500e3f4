/** A model without image input rejects every later request once the history contains an image. */
import { isImage, isToolResult } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import { isApiError } from './apiError';
import type { ApiHandler } from './types';

const IMAGE_REJECTIONS: readonly RegExp[] = [
  // DeepSeek: "messages[3]: unknown variant `image_url`, expected `text`"
  /unknown variant `(?:image_url|input_image)`/i,
  // OpenRouter, 404: "No endpoints found that support image input"
  /support(?:s)? image input|image input is not supported|images? (?:input )?(?:is|are) not supported/i,
  // Ollama, vLLM: "this model does not support images"; "… is not a multimodal model"; "does not support multimodal"
  /not support (?:image|vision|multi-?modal)|not a multi-?modal model/i,
  // llama.cpp, 500: "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
  /mmproj/i,
];

const OMITTED_IMAGE: Block = { type: 'text', text: '[image: left out, because this model sees none]' };

/**
 * If it is unknown whether the model accepts images, a rejection shows it and the request is sent
 * once more.
 */
export function createHandlerReplacingImages(handler: ApiHandler, acceptsImages: boolean | undefined): ApiHandler {
  if (acceptsImages === true) return handler;
  let refusesImages = acceptsImages === false;
  return {
    ...handler,
    async *stream(request, signal) {
      const makeRequestWithoutImages = (): typeof request => ({
        ...request,
        messages: request.messages.map(replaceImagesInMessage),
      });
      if (!refusesImages) {
        try {
          yield* handler.stream(request, signal);
          return;
        } catch (error) {
          if (
            !isImageRejection(error) ||
            !request.messages.some((message) => replaceImagesInMessage(message) !== message)
          )
            throw error;
          refusesImages = true;
        }
      }
      yield* handler.stream(makeRequestWithoutImages(), signal);
    },
  };
}

const isImageRejection = (error: unknown): boolean =>
  isApiError(error) && IMAGE_REJECTIONS.some((words) => words.test(error.details.vendorMessage ?? ''));

function replaceImagesInMessage(message: ApiMessage): ApiMessage {
  if (typeof message.content === 'string') return message;
  const content = replaceImageBlocks(message.content);
  return content === message.content ? message : { ...message, content };
}

function replaceImageBlocks(blocks: readonly Block[]): readonly Block[] {
  const replacedBlocks = blocks.map((block) => {
    if (isImage(block)) return OMITTED_IMAGE;
    const resultBlocks =
      isToolResult(block) && Array.isArray(block.content) ? (block.content as readonly Block[]) : undefined;
    const replacedResultBlocks = resultBlocks && replaceImageBlocks(resultBlocks);
    return replacedResultBlocks && replacedResultBlocks !== resultBlocks
      ? { ...block, content: replacedResultBlocks }
      : block;
  });
  return replacedBlocks.some((block, index) => block !== blocks[index]) ? replacedBlocks : blocks;
}
