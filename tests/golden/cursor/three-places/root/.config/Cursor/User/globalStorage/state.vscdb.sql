create table ItemTable (key text unique on conflict replace, value blob);
create table cursorDiskKV (key text unique on conflict replace, value blob);
insert into cursorDiskKV values ('bubbleId:00000013-0000-4000-8000-000000000000:f1', '{"_v": 3, "bubbleId": "f1", "type": 1, "text": "draw a cat", "createdAt": "2026-10-01T09:00:00.000Z"}');
insert into cursorDiskKV values ('bubbleId:00000013-0000-4000-8000-000000000000:f2', '{"_v": 3, "bubbleId": "f2", "type": 2, "text": "Here.", "createdAt": "2026-10-01T09:00:02.000Z", "tokenCount": {"inputTokens": 70, "outputTokens": 7}}');
insert into cursorDiskKV values ('bubbleId:00000013-0000-4000-8000-000000000000:f3', '{"_v": 3, "bubbleId": "f3", "type": 1, "text": "with   a hat", "createdAt": "2026-10-01T09:00:09.000Z"}');
insert into cursorDiskKV values ('bubbleId:00000013-0000-4000-8000-000000000000:f4', '{"_v": 3, "bubbleId": "f4", "type": 2, "text": "Meow.", "createdAt": "2026-10-01T09:00:11.000Z"}');
insert into cursorDiskKV values ('composerData:00000013-0000-4000-8000-000000000000', '{"_v": 13, "composerId": "00000013-0000-4000-8000-000000000000", "createdAt": 1790845200000, "fullConversationHeadersOnly": [{"bubbleId": "f1"}, {"bubbleId": "f2"}, {"bubbleId": "f3"}, {"bubbleId": "f4"}], "workspaceIdentifier": {"id": "w1", "uri": {"fsPath": "/home/ada/shop"}}, "name": "Cats"}');
