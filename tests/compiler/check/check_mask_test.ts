import { testCodes, testTrees, testTypes } from "../../support/compiler/check_tables.ts";

testTypes("gives a conditional the common type and shape", {
  "b ? n : l": "long",
  "b ? x : 0": "float[16]",
  "m ? 1 : 2": "int[16]",
  "m ? f : h": "float[16]",
  "mz ? x[:, newaxis] : y": "float[16, 32]",
  "b ? P : 0": "float*",
  "b ? V : P": "void*",
  "m ? p : 0": "float*[16]",
  "n ?: 3": "int",
  "b && x": "bool[16]",
  "n && P": "bool",
  "m || b": "bool[16]",
  "select(m, x, 0)": "float[16]",
});

testTrees("evaluates one side of a scalar conditional", {
  "b ? *P : 0": "float: (b ? *P : 0.0)",
  "n ? *P : *C": "float: (convert<bool>(n) ? *P : *C)",
  "b ? x : 0": "float[16]: (b ? x : float[16](0.0))",
  "b && *P < 1": "bool: (b ? (*P < 1.0) : false)",
  "b || *P < 1": "bool: (b ? true : (*P < 1.0))",
  "b ?: n": "int: (b ? convert<int>(b) : n)",
  "*I ?: n": "int: (let condition = *I in (convert<bool>(condition) ? condition : n))",
});

testTrees("masks the loads of each side of a tile conditional by its own lanes", {
  "m ? x : 0": "float[16]: select(m, x, float[16](0.0))",
  "m ? *p : 0": "float[16]: select(m, *?(m) p, float[16](0.0))",
  "m ? exp(-*p) : *p": "float[16]: select(m, exp(-*?(m) p), *?(~m) p)",
  "r < n ? *p : 0":
    "float[16]: (let mask = (r < broadcast<int[16]>(n)) in select(mask, *?(mask) p, float[16](0.0)))",
  "m ? *?(b) p : 0": "float[16]: select(m, *?((m & broadcast<bool[16]>(b))) p, float[16](0.0))",
  "m ? (float) *(H + r) : 0":
    "float[16]: select(m, convert<float[16]>(*?(m) (broadcast<half*[16]>(H) + r)), float[16](0.0))",
  "m ? *(P + *(I + r)) : 0":
    "float[16]: select(m, *?(m) (broadcast<float*[16]>(P) + *?(m) (broadcast<int*[16]>(I) + r)), float[16](0.0))",
  "m ? (b ? *p : x) : 0": "float[16]: select(m, (b ? *?(m) p : x), float[16](0.0))",
  "m && *p < 1": "bool[16]: (m & (*?(m) p < float[16](1.0)))",
  "m || *p < 1": "bool[16]: (m | (*?(~m) p < float[16](1.0)))",
  "b && *p < 1":
    "bool[16]: (broadcast<bool[16]>(b) & (*?(broadcast<bool[16]>(b)) p < float[16](1.0)))",
  "*p < 1 && m": "bool[16]: ((*p < float[16](1.0)) & m)",
  "*p < 1 && *I":
    "bool[16]: (let mask = (*p < float[16](1.0)) in (mask & broadcast<bool[16]>(convert<bool>(*?(reduce_or(mask, axis 0)) I))))",
});

testTrees("changes a mask where the shape changes on its way to a load", {
  "mz ? *P : 0":
    "float[16, 32]: select(mz, broadcast<float[16, 32]>(*?(reduce_or(reduce_or(mz, axis 1), axis 0)) P), float[16, 32](0.0))",
  "mz ? (*p)[:, newaxis] : 0":
    "float[16, 32]: select(mz, broadcast<float[16, 32]>(reshape<float[16, 1]>(*?(reshape<bool[16]>(reshape<bool[16, 1]>(reduce_or(mz, axis 1)))) p)), float[16, 32](0.0))",
  "^mz ? ^(*pz) : 0":
    "float[32, 16]: (let mask = permute<1, 0>(mz) in select(mask, permute<1, 0>(*?(permute<1, 0>(mask)) pz), float[32, 16](0.0)))",
  "mz ? ((m ? *p : 1)[:, newaxis]) : 0":
    "float[16, 32]: select(mz, broadcast<float[16, 32]>(reshape<float[16, 1]>(select(m, *?((reshape<bool[16]>(reshape<bool[16, 1]>(reduce_or(mz, axis 1))) & m)) p, float[16](1.0)))), float[16, 32](0.0))",
  "m ? (*p > 0 ? *p : 1) : 0":
    "float[16]: select(m, (let mask = (*?(m) p > float[16](0.0)) in select(mask, *?((m & mask)) p, float[16](1.0))), float[16](0.0))",
  "b && (m ? *p : 0)":
    "bool[16]: (broadcast<bool[16]>(b) & convert<bool[16]>(select(m, *?((broadcast<bool[16]>(b) & m)) p, float[16](0.0))))",
});

testCodes("refuses sides that cannot be masked", {
  "x = m ? (*pz)[:, +] : 0;": "E5152",
  "zeros(float[16, 16]); z = mz ? (zeros(float[16, 16]) @ *pz) : 0;": "W6001 E5152",
  "x = m ? cumsum(*p, 0) : 0;": "E5152",
  "x = m ? half_of(*P) : 0;": "E5152",
  "x = m ? half_of(f) : 0;": "",
  "x = m ? read(P) : 0;": "E5152",
  "m = m && *p == (*pz)[:, +];": "E5152",
  "x = m ? (*?(m) pz[:, +]) : 0;": "E5116",
});

testCodes("refuses sides of tile conditionals that do something", {
  "x = m ? (n = 1) : 0;": "E5151",
  "x = m ? n++ : 0;": "E5151",
  "x = m ? (*P = 1) : 0;": "E5151",
  "x = m ? atomic_add(P, 1) : 0;": "E5151",
  "x = m ? (write(P), 1) : 0;": "E5151",
  "m = m && n++;": "E5151",
  "m = n++ && m;": "",
  "n = b ? n++ : 0;": "",
});

testCodes("refuses sides without a common type", {
  "b ? P : n;": "E5150",
  "b ? P : I;": "E5150",
  "b ? x : y;": "E5010",
  "m ? y : 0;": "E5010",
  "b ?: P;": "E5150",
});
