CREATE TABLE account (id text primary key, access_token text not null);
CREATE TABLE message (
  id text primary key, session_id text not null, time_created integer not null, time_updated integer not null,
  data text not null);
INSERT INTO "message" VALUES('msg_c1c3a077800100000000000001','ses_3e3c5fc6fffeAdaShop0000090',1770000091000,1770000091000,'{"role": "user", "time": {"created": 1770000091000}, "agent": "build"}');
INSERT INTO "message" VALUES('msg_c1c3a0b6000100000000000001','ses_3e3c5fc6fffeAdaShop0000090',1770000092000,1770000092000,'{"role": "assistant", "time": {"created": 1770000092000, "completed": 1770000093000}, "modelID": "claude-sonnet-4-5", "providerID": "anthropic", "mode": "build", "path": {"cwd": "/home/ada/shop", "root": "/home/ada/shop"}, "cost": 0.01, "tokens": {"input": 4, "output": 4, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "finish": "stop", "parentID": "msg_c1c3a077800100000000000001"}');
CREATE TABLE part (
  id text primary key, message_id text not null, session_id text not null, time_created integer not null,
  time_updated integer not null, data text not null);
INSERT INTO "part" VALUES('prt_c1c3a077800100000000000001','msg_c1c3a077800100000000000001','ses_3e3c5fc6fffeAdaShop0000090',1770000091000,1770000091000,'{"type": "text", "text": "try the new build"}');
INSERT INTO "part" VALUES('prt_c1c3a0b6000100000000000001','msg_c1c3a0b6000100000000000001','ses_3e3c5fc6fffeAdaShop0000090',1770000092000,1770000092000,'{"type": "text", "text": "It works."}');
CREATE TABLE session (
  id text primary key, project_id text not null, parent_id text, slug text not null, directory text not null,
  title text not null, version text not null, share_url text, summary_additions integer, summary_deletions integer,
  summary_files integer, summary_diffs text, revert text, permission text, time_created integer not null,
  time_updated integer not null, time_compacting integer, time_archived integer);
INSERT INTO "session" VALUES('ses_3e3c5fc6fffeAdaShop0000090','9f1c2e',NULL,'quiet-meadow','/home/ada/shop','Another channel','0.0.0-dev',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1770000090000,1770000150000,NULL,NULL);
CREATE INDEX part_session_idx on part (session_id);
