export { presentChangedTag, presentNewTag, presentTag } from './tags.present.ts';
export type { NewTag } from './tags.rules.ts';
export { tagsRoutes } from './tags.routes.ts';
export { TagsService } from './tags.service.ts';
export type { Tag, TagsOptions } from './tags.service.ts';
