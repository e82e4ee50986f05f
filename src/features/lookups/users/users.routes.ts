import { Type } from '@sinclair/typebox';
import { route } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import { ROLES } from '../../accounts/index.ts';
import type { User, UsersService } from '../../accounts/index.ts';
import { searchOf, windowOf } from '../input.rules.ts';
import { skipPageOf, skipPageQuery } from '../page.schema.ts';

const UserData = Type.Object({
  user_id: Type.String(),
  display_name: Type.String(),
  email: Type.Union([Type.String(), Type.Null()]),
  role: Type.Union(ROLES.map((role) => Type.Literal(role))),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
});

const presentUser = (user: User) => ({
  user_id: user.userId,
  display_name: user.displayName,
  email: user.email,
  role: user.role,
  created_at: user.createdAtMs,
});

/** Users of the account, whom contacts and follow-ups can be given to (contract, Lookup routes). */
export const usersRoutes = ({ users }: { users: Pick<UsersService, 'list'> }): RouteSpec[] => [
  route({
    ...{ method: 'GET', path: '/user/public/users', operationId: 'listUsers', tag: 'Users' },
    summary: 'Users of the account, oldest first',
    description: '`search_term` is part of the name or the email.',
    scopes: ['contacts:read'],
    query: Type.Object(skipPageQuery),
    data: Type.Array(UserData),
    handler: async ({ caller, query }) => {
      const { searchTerm, ...page } = skipPageOf(query);
      const { take, skip } = windowOf(page);
      const found = await users.list(caller, { limit: take, skip, searchTerm: searchOf(searchTerm) });
      return found.map(presentUser);
    },
  }),
];
