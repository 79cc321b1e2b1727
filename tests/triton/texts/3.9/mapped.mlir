#loc = loc("samples.py":226:1)
#loc5 = loc("samples.py":229:27)
#loc8 = loc("samples.py":219:1)
#loc12 = loc("i_ptr"(#loc))
#loc16 = loc("a"(#loc8))
#loc17 = loc("b"(#loc8))
module {
  tt.func public @mapped(%i_ptr: !tt.ptr<i32> loc("i_ptr"(#loc))) attributes {noinline = false} {
    %off = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32> loc(#loc13)
    %i = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>> loc(#loc14)
    %i_0 = tt.addptr %i, %off : tensor<64x!tt.ptr<i32>>, tensor<64xi32> loc(#loc14)
    %i_1 = tt.load %i_0 : tensor<64x!tt.ptr<i32>> loc(#loc15)
    %0 = tt.splat %i_ptr : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>> loc(#loc4)
    %1 = tt.addptr %0, %off : tensor<64x!tt.ptr<i32>>, tensor<64xi32> loc(#loc4)
    %2 = "tt.map_elementwise"(%i_1, %off) <{pack = 1 : i32}> ({
    ^bb0(%arg1: i32 loc("samples.py":229:27), %arg2: i32 loc("samples.py":229:27)):
      %3 = tt.call @__main__.compare_fn__i32_i32(%arg1, %arg2) : (i32, i32) -> i32 loc(#loc6)
      tt.map_elementwise.return %3 : i32 loc(#loc5)
    }) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32> loc(#loc5)
    tt.store %1, %2 : tensor<64x!tt.ptr<i32>> loc(#loc7)
    tt.return loc(#loc)
  } loc(#loc)
  tt.func private @__main__.compare_fn__i32_i32(%a: i32 loc("a"(#loc8)), %b: i32 loc("b"(#loc8))) -> i32 attributes {noinline = false} {
    %0 = arith.cmpi slt, %a, %b : i32 loc(#loc9)
    cf.cond_br %0, ^bb1, ^bb2 loc(#loc9)
  ^bb1:  // pred: ^bb0
    %c-1_i32 = arith.constant -1 : i32 loc(#loc10)
    tt.return %c-1_i32 : i32 loc(#loc10)
  ^bb2:  // pred: ^bb0
    cf.br ^bb4 loc(#loc8)
  ^bb3:  // no predecessors
    cf.br ^bb4 loc(#loc8)
  ^bb4:  // 2 preds: ^bb2, ^bb3
    %c1_i32 = arith.constant 1 : i32 loc(#loc11)
    tt.return %c1_i32 : i32 loc(#loc11)
  ^bb5:  // no predecessors
    %1 = ub.poison : i32 loc(#loc8)
    tt.return %1 : i32 loc(#loc8)
  } loc(#loc8)
} loc(#loc)
#loc1 = loc("samples.py":227:11)
#loc2 = loc("samples.py":228:17)
#loc3 = loc("samples.py":228:9)
#loc4 = loc("samples.py":229:14)
#loc6 = loc(unknown)
#loc7 = loc("samples.py":229:5)
#loc9 = loc("samples.py":220:8)
#loc10 = loc("samples.py":221:9)
#loc11 = loc("samples.py":222:5)
#loc13 = loc("off"(#loc1))
#loc14 = loc("i"(#loc2))
#loc15 = loc("i"(#loc3))
